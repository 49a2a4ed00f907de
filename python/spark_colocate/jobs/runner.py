"""Runs the jobs of a catalog, one after another, in the driver that this process serves."""

from __future__ import annotations

import sys
import threading
import traceback

from spark_colocate.engine import Engine
from spark_colocate.errors import ColocateError, EngineError, StoreError
from spark_colocate.jobs import KINDS
from spark_colocate.jobs.work import NotYet, Work, job_group
from spark_colocate.model import Job, JobState
from spark_colocate.service import JobLost, Service

LOOK_SECONDS = 1.0


class JobRunner:
    """A thread's work. `look` does at most one job."""

    def __init__(self, service: Service, engine: Engine) -> None:
        self._service = service
        self._engine = engine
        self._stopped = threading.Event()

    def run(self) -> None:
        """Looks for jobs until stopped. Nothing that a job does ends this."""
        while not self._stopped.wait(LOOK_SECONDS):
            try:
                while self.look() and not self._stopped.is_set():
                    pass
            except StoreError:
                pass  # The watcher says so; the job goes on once the store is back.
            except Exception:  # noqa: BLE001 - a fault of one job must not end the thread
                traceback.print_exc()

    def stop(self) -> None:
        """The driver has ended."""
        self._stopped.set()

    def look(self) -> bool:
        """Does the next job that is free. False if there is none."""
        job = self._service.jobs.claim()
        if job is None:
            return False
        try:
            self._do(job)
        except JobLost:
            print(f"colocate: {job_group(job)} was taken over or ended; whoever has it goes on", file=sys.stderr)
        finally:
            self._service.jobs.released(job)
        return True

    def stop_cancelled(self) -> None:
        """Stops the running steps of jobs that somebody has cancelled. For another thread than that of `look`."""
        for job in self._service.jobs.to_stop():
            self._engine.cancel(job_group(job))

    def _do(self, job: Job) -> None:
        try:
            self._steps(job)
        except StoreError:
            raise
        except NotYet as waiting:
            self._service.jobs.waits(job, str(waiting))
        except EngineError as error:
            self._service.jobs.failed(job, str(error), error.final)
        except ColocateError as error:  # The job itself is impossible: its table was dropped, for example.
            self._service.jobs.failed(job, str(error), final=True)
        except JobLost:
            raise
        except Exception as error:  # noqa: BLE001 - Py4J's errors among them; the job keeps the text
            if self._stopped.is_set():
                return  # The driver ends: another one goes on.
            traceback.print_exc(file=sys.stderr)
            self._service.jobs.failed(job, f"{type(error).__name__}: {error}", final=False)

    def _steps(self, job: Job) -> None:
        jobs, kind = self._service.jobs, KINDS[job.kind]
        work = Work(job, self._service, self._engine)
        if job.steps is None:
            job = jobs.planned(job, kind.begin(work))
        for step in jobs.steps(job.job_id)[job.done :]:
            if self._stopped.is_set():
                return
            job = jobs.stepped(job, step, kind.step(work, step))
            if job.state is not JobState.RUNNING:
                return
        jobs.finished(job, kind.end(work))
