"""Which tests run when: three tiers, chosen by marks and a table of cases, the same on every day.

`fast`, `default` and `all` (CONTRIBUTING.md says what each is for). The marks are listed in `selection.py`.
"""
