"""Statements on tables: the checks of what they declare, their begin and their finish."""
