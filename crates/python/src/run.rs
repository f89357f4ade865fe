//! The one door for threads, cancellation, progress and panics.
//!
//! The computation runs on a thread of its own without the interpreter lock; the caller wakes every
//! 50 ms, lets Python handle signals, passes progress on and sets the stop flag. Workers never call
//! Python. A forked child gets a pool of its own. A panic becomes `netloom.InternalError`. The clock is here too: what a search reports as better
//! is stamped with the seconds since it was called.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use netloom_model::{Control, Improvement, StopReason};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;

use crate::errors;

const WAKE: Duration = Duration::from_millis(50);
const STACK_BYTES: usize = 64 << 20;
const MOST_THREADS: usize = 1024;

/// How a computation is run.
#[derive(Default)]
pub struct Options {
    /// Threads of parallel parts; 0 means one a core.
    pub threads: usize,
    /// Seconds after which the computation is asked for what it has.
    pub time_limit: Option<f64>,
    /// Called with `(done, total)` about every 50 ms.
    pub progress: Option<Py<PyAny>>,
    /// What an interrupt does.
    pub interrupt: Interrupt,
}

/// What an interrupt does to a computation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Interrupt {
    /// Raises: there is nothing to return.
    #[default]
    Raises,
    /// Raises, unless it comes from a handler that says what it raises lets a computation return: the command line's does.
    MayReturn,
    /// Returns what was found by then.
    Returns,
}

impl Interrupt {
    /// Of a computation that has something to return, as `on_interrupt` says.
    ///
    /// # Errors
    /// `ArgumentError` for another word.
    pub fn parse(py: Python<'_>, on_interrupt: &str) -> PyResult<Self> {
        match on_interrupt {
            "raise" => Ok(Self::MayReturn),
            "return" => Ok(Self::Returns),
            other => {
                let message = format!("on_interrupt: expected raise or return, found {other:?}");
                Err(errors::argument(py, message))
            }
        }
    }

    /// Whether the computation returns all the same.
    fn returns(self, py: Python<'_>, raised: &PyErr) -> bool {
        let lets_return = || raised.value(py).hasattr("lets_return").unwrap_or(false);
        raised.is_instance_of::<PyKeyboardInterrupt>(py)
            && match self {
                Self::Raises => false,
                Self::MayReturn => lets_return(),
                Self::Returns => true,
            }
    }
}

impl Options {
    /// Nothing but a number of threads.
    pub fn threads(threads: usize) -> Self {
        Self { threads, ..Self::default() }
    }
}

/// What is left of a time limit since `began`. Of a limit that has passed meanwhile a moment is left: only no time at all is no
/// time for a first step.
pub fn left(time_limit: Option<f64>, began: Instant) -> Option<f64> {
    let least = Duration::from_millis(1).as_secs_f64();
    time_limit.map(|s| if s > least { (s - began.elapsed().as_secs_f64()).max(least) } else { s })
}

/// Runs `work` without the interpreter lock; see the module.
///
/// # Errors
/// `KeyboardInterrupt` (unless [`Interrupt`] says otherwise), whatever `progress` raised, `InternalError` for a panic.
pub fn run<T: Send>(
    py: Python<'_>,
    options: Options,
    work: impl FnOnce(&Control) -> T + Send,
) -> PyResult<T> {
    run_until(py, options, work).map(|ended| ended.result)
}

/// A computation that has ended.
pub struct Ended<T> {
    /// What it returned.
    pub result: T,
    /// Why it was asked to stop, if it was, be it in its last moment.
    pub stopped: Option<StopReason>,
    /// Seconds since it was called, and what was found then.
    pub improvements: Vec<(f64, Improvement)>,
}

impl<T, E> Ended<Result<T, E>> {
    /// The same of what succeeded, or its error.
    ///
    /// # Errors
    /// The computation's own.
    pub fn transpose(self) -> Result<Ended<T>, E> {
        let Ended { result, stopped, improvements } = self;
        result.map(|result| Ended { result, stopped, improvements })
    }
}

/// As [`run`], with how it ended.
///
/// # Errors
/// As [`run`].
pub fn run_until<T: Send>(
    py: Python<'_>,
    options: Options,
    work: impl FnOnce(&Control) -> T + Send,
) -> PyResult<Ended<T>> {
    let started = Instant::now();
    let improvements = Arc::new(Mutex::new(Vec::new()));
    let control = Control::observed({
        let improvements = Arc::clone(&improvements);
        move |improvement| {
            let mut list = improvements.lock().unwrap_or_else(PoisonError::into_inner);
            list.push((started.elapsed().as_secs_f64(), improvement));
        }
    });
    let deadline = options
        .time_limit
        .filter(|s| s.is_finite())
        .map(|s| started + Duration::from_secs_f64(s.clamp(0.0, 1e9)));
    // No time at all is no time for a first step either.
    if deadline.is_some_and(|d| Instant::now() >= d) {
        control.stop(StopReason::TimeLimit);
    }
    let forked = is_forked();
    if forked {
        leave_global_pool();
    }
    let pool = (options.threads > 0 || forked)
        .then(|| rayon::ThreadPoolBuilder::new().num_threads(options.threads.min(MOST_THREADS)).build())
        .transpose()
        .map_err(|e| PyMemoryError::new_err(format!("no threads could be started: {e}")))?;

    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let (control_ref, pool) = (&control, &pool);
        let wake = WakeOnDrop { ended: &ended, caller: thread::current() };
        let worker = thread::Builder::new()
            .name("netloom".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || {
                let _wake = wake;
                match pool {
                    Some(pool) => pool.install(|| work(control_ref)),
                    None => work(control_ref),
                }
            })
            // Where there is no memory for a stack.
            .map_err(|e| PyMemoryError::new_err(format!("no thread could be started: {e}")))?;

        let mut raised: Option<PyErr> = None;
        while !ended.load(Ordering::Acquire) {
            let left = deadline.map_or(WAKE, |d| d.saturating_duration_since(Instant::now()));
            py.detach(|| thread::park_timeout(left.clamp(Duration::from_millis(1), WAKE)));
            if deadline.is_some_and(|d| Instant::now() >= d) {
                control.stop(StopReason::TimeLimit);
            }
            if let Err(signal) = py.check_signals() {
                control.stop(StopReason::Interrupted);
                raised.get_or_insert(signal);
            }
            if let (Some(progress), None) = (&options.progress, &raised)
                && let Err(error) = progress.call1(py, control.progress())
            {
                control.stop(StopReason::Interrupted);
                raised = Some(error);
            }
        }
        let result =
            py.detach(|| worker.join()).map_err(|panic| errors::internal(py, panic_text(panic.as_ref())))?;
        match raised {
            Some(error) if !options.interrupt.returns(py, &error) => Err(error),
            _ => {
                let mut improvements = improvements.lock().unwrap_or_else(PoisonError::into_inner);
                let improvements = std::mem::take(&mut *improvements);
                Ok(Ended { result, stopped: control.stopped(), improvements })
            }
        }
    })
}

/// The process that may use the global pool, the first that computes; 0: none yet.
static POOLED: AtomicU32 = AtomicU32::new(0);

/// Makes the calling thread of a forked child a pool of its own, of one thread: what it does in parallel around a computation would else ask
/// the global pool.
fn leave_global_pool() {
    if rayon::current_thread_index().is_none()
        && let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
    {
        // The thread stays its worker.
        std::mem::forget(pool);
    }
}

/// Whether this is a child of the process that started the global pool: a fork copies the pool, not its threads, and whoever asked it
/// would wait for ever.
fn is_forked() -> bool {
    let own = std::process::id();
    match POOLED.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => false,
        Err(first) => first != own,
    }
}

/// Tells the caller that the worker has ended, by return or by panic.
struct WakeOnDrop<'a> {
    ended: &'a AtomicBool,
    caller: Thread,
}

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.caller.unpark();
    }
}

/// What a representation adds of a computation that was stopped.
pub fn stop_words(reason: Option<StopReason>) -> &'static str {
    match reason {
        None => "",
        Some(StopReason::Interrupted) => ", interrupted",
        Some(StopReason::TimeLimit) => ", stopped by its time limit",
    }
}

/// The stop reason as results spell it.
pub fn stop_text(reason: Option<StopReason>) -> Option<&'static str> {
    reason.map(|r| match r {
        StopReason::Interrupted => "interrupted",
        StopReason::TimeLimit => "time-limit",
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a worker panicked".into())
}
