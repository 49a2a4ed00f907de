SELECT count(*) AS orders, max(lines) AS most_lines, sum(quantity) AS quantity
FROM (SELECT l_orderkey, count(*) AS lines, sum(l_quantity) AS quantity FROM lineitem GROUP BY l_orderkey) AS per_order
