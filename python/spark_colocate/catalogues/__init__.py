"""The tables of conf/ as values: settings, planning rules, reasons and findings."""
