// workers.rs -- an ordinary program in Rust: threads, a mutex, a condition variable, channels,
// thread-locals, and a panic that is caught by a join. `workers lost` loses a wake-up.
//
// SPDX-License-Identifier: Apache-2.0
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, Once, RwLock};
use std::thread;

thread_local! {
    static SEEN: RefCell<Vec<u32>> = RefCell::new(vec![7; 3]);
}

struct Queue {
    items: Mutex<VecDeque<u32>>,
    changed: Condvar,
}

fn take(queue: &Queue) -> u32 {
    let mut items = queue.items.lock().unwrap();
    while items.is_empty() {
        items = queue.changed.wait(items).unwrap();
    }
    items.pop_front().unwrap()
}

fn put(queue: &Queue, item: u32) {
    queue.items.lock().unwrap().push_back(item);
    queue.changed.notify_one();
}

fn work() {
    static ONCE: Once = Once::new();
    let queue = Arc::new(Queue { items: Mutex::new(VecDeque::new()), changed: Condvar::new() });
    let sum = Arc::new(RwLock::new(0u32));
    let (results, received) = mpsc::channel();
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let (queue, sum, results) = (queue.clone(), sum.clone(), results.clone());
            thread::spawn(move || {
                ONCE.call_once(|| *sum.write().unwrap() += 100);
                let item = take(&queue);
                SEEN.with(|seen| seen.borrow_mut().push(item));
                *sum.write().unwrap() += item;
                results.send(SEEN.with(|seen| seen.borrow().len())).unwrap();
            })
        })
        .collect();
    drop(results);
    put(&queue, 1);
    put(&queue, 2);
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(received.iter().collect::<Vec<_>>(), [4, 4]);
    assert_eq!(*sum.read().unwrap(), 103);
    assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
    println!("done");
}

// The flag is set without the mutex.
fn lose() {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let theirs = shared.clone();
    let waiter = thread::spawn(move || {
        let mut guard = theirs.1.lock().unwrap();
        while !theirs.0.load(Ordering::SeqCst) {
            guard = theirs.2.wait(guard).unwrap();
        }
    });
    shared.0.store(true, Ordering::SeqCst);
    shared.2.notify_one();
    waiter.join().unwrap();
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("lost") => lose(),
        _ => work(),
    }
}
