"""Queries over packs and over the hive export, each by DuckDB and by Polars; prints JSON."""

import glob
import json
import sys

import duckdb
import polars as pl


def packs(folder):
    """Files by dialect, and every symbol's qualified name and line, from the columns as stored."""
    files = f"{folder}/*.parquet"
    # Differences: the number without its sign bit, its sign in the lowest.
    duckdb.sql("create macro plain(n) as ((n & 4294967295) >> 1) * (1 - 2 * (n & 1)) - (n & 1)")
    duckdb.sql(f"create view packs as from read_parquet('{files}')")
    stored = """
        select blob, string_split(names, chr(10)) as names,
               unnest(symbol_signature_delta) as signature, unnest(symbol_qualname_delta) as qualname,
               unnest(symbol_name_line_delta) as line,
               unnest(symbol_start_line_delta) as start, generate_subscripts(symbol_kind, 1) as nth,
               unnest(symbol_kind) as kind
        from packs
    """
    symbols = f"""
        select names[(signature + plain(qualname) + 1)::bigint] as qualname, (line + plain(start))::bigint as line from (
            select names, kind, qualname, start,
                   sum(plain(signature)) over (partition by blob order by nth) as signature,
                   sum(plain(line)) over (partition by blob order by nth) as line
            from ({stored})
        ) where kind != 0 order by all
    """
    by_duckdb = {
        "files": duckdb.sql("select dialect, count(*) from packs group by all order by all").fetchall(),
        "symbols": duckdb.sql(symbols).fetchall(),
    }
    frame = pl.read_parquet(glob.glob(files))

    def plain(column):
        number = pl.col(column).cast(pl.Int64) & 4294967295
        return (number // 2) * (1 - 2 * (number % 2)) - (number % 2)

    columns = [f"symbol_{field}_delta" for field in ("signature", "qualname", "name_line", "start_line")]
    columns.append("symbol_kind")
    rows = frame.select("blob", pl.col("names").str.split("\n"), *columns).explode(*columns)
    rows = rows.with_columns(
        signature=plain("symbol_signature_delta").cum_sum().over("blob"),
        line=plain("symbol_name_line_delta").cum_sum().over("blob") + plain("symbol_start_line_delta"),
    ).with_columns(at=pl.col("signature") + plain("symbol_qualname_delta"))
    rows = rows.filter(pl.col("symbol_kind") != 0)
    rows = rows.select(qualname=pl.col("names").list.get(pl.col("at")), line="line").sort("qualname", "line")
    by_polars = {
        "files": frame.group_by("dialect").len().sort("dialect").rows(),
        "symbols": rows.rows(),
    }
    return {"duckdb": by_duckdb, "polars": by_polars}


def hive(folder):
    """Rows of each table, calls, and who calls `total` by a join over two tables."""
    tables = ["edges", "files", "references", "symbols"]
    by_duckdb, by_polars = {"rows": {}, "metadata": {}}, {"rows": {}}
    frames = {}
    for table in tables:
        files = f"{folder}/{table}/*/*.parquet"
        duckdb.sql(f'create view "{table}" as from read_parquet(\'{files}\', hive_partitioning = true)')
        by_duckdb["rows"][table] = duckdb.sql(f'select count(*) from "{table}"').fetchall()[0][0]
        metadata = duckdb.sql(f"select decode(key) from parquet_kv_metadata('{files}')")
        by_duckdb["metadata"][table] = [key for (key,) in metadata.fetchall()]
        frames[table] = pl.scan_parquet(files, hive_partitioning=True)
        by_polars["rows"][table] = frames[table].select(pl.len()).collect().item()
    by_duckdb["calls"] = duckdb.sql("select count(*) from edges where kind = 'calls'").fetchall()[0][0]
    callers = """
        select distinct edges.repository, caller.qualname
        from edges join symbols callee on edges.dst_id = callee.symbol_id
                   join symbols caller on edges.src_id = caller.symbol_id
        where edges.kind = 'calls' and callee.qualname = 'total' and callee.file = 'src/shop/cart.py'
    """
    by_duckdb["callers"] = sorted(map(list, duckdb.sql(callers).fetchall()), key=json.dumps)
    calls = frames["edges"].filter(pl.col("kind") == "calls")
    by_polars["calls"] = calls.select(pl.len()).collect().item()
    symbols = frames["symbols"].select("symbol_id", "qualname", "file")
    total = symbols.filter((pl.col("qualname") == "total") & (pl.col("file") == "src/shop/cart.py"))
    found = calls.join(total, left_on="dst_id", right_on="symbol_id", how="semi")
    found = found.join(symbols, left_on="src_id", right_on="symbol_id", suffix="_of_caller")
    name = "qualname_of_caller" if "qualname_of_caller" in found.collect_schema().names() else "qualname"
    found = found.select(pl.col("repository").cast(pl.String), name).unique().collect()
    by_polars["callers"] = sorted(map(list, found.rows()), key=json.dumps)
    return {"duckdb": by_duckdb, "polars": by_polars}


if __name__ == "__main__":
    answer = {"packs": packs, "hive": hive}[sys.argv[1]](sys.argv[2])
    print(json.dumps(answer))
