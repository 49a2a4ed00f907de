SELECT count(*) AS lines, sum(l_extendedprice * (1 - l_discount)) AS revenue,
       max(o_totalprice) AS dearest, max(o_clerk) AS clerk
FROM lineitem JOIN orders ON l_orderkey = o_orderkey
