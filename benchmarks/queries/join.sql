-- The two big tables on their key; nothing but the join and one aggregate, so that the difference is the shuffle.
SELECT count(*) AS lines, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem JOIN orders ON l_orderkey = o_orderkey
