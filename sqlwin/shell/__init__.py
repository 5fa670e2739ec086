"""`sqlwin shell`: statements are typed, or come from a pipe, and are answered one by one."""
