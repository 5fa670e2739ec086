"""COUNT, SUM, AVG and PRODUCT: what adds up, and is taken out again where it is exact."""
