# SPDX-License-Identifier: MIT
"""Work on several cores that ends at once when its step's time is up."""

from concurrent.futures import ThreadPoolExecutor, as_completed

import machine


def each(jobs, work, items):
    """(item, work(item)) as each is done."""
    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        futures = {pool.submit(work, item): item for item in items}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:
        machine.stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)
        machine.end_all()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        machine.stopped.clear()
