"""A small shop, and what is asked of it every day."""

# Of each table its columns, its rows and its provider.
TABLES = {
    "orders": (
        "o_id BIGINT, o_cust INT, o_date DATE, o_total DECIMAL(12, 2)",
        "SELECT id, cast(id % 100 AS INT), date_add(DATE'2026-01-01', cast(id % 90 AS INT)), id * 1.5 FROM range(5000)",
        "delta",
    ),
    "lines": (
        "l_order BIGINT, l_no INT, l_qty INT",
        "SELECT id % 5000, cast(id / 5000 AS INT), cast(id % 7 AS INT) FROM range(20000)",
        "delta",
    ),
    "customers": ("c_id INT, c_name STRING", "SELECT cast(id AS INT), concat('c', id) FROM range(100)", "parquet"),
}
QUERIES = (
    "SELECT o_date, sum(l_qty) FROM orders JOIN lines ON o_id = l_order GROUP BY o_date",
    "SELECT o_id, count(*) FROM orders JOIN lines ON o_id = l_order WHERE l_qty > 2 GROUP BY o_id",
    "SELECT c_name, sum(o_total) FROM orders JOIN customers ON o_cust = c_id GROUP BY c_name",
    "SELECT l_order, row_number() OVER (PARTITION BY l_order ORDER BY l_no) FROM lines",
    "SELECT a.x FROM (SELECT o_id AS x, o_total AS t FROM orders) a JOIN lines ON a.x = l_order AND a.t > l_qty",
)
