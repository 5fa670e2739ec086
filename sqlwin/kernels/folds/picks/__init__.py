"""One value of a few rows: MIN, MAX, FIRST, LAST, ARG_MIN, NTH_VALUE, BOOL_AND, BIT_AND …"""
