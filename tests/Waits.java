/* SPDX-License-Identifier: Apache-2.0 */
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/* Waits KIND [ROUNDS] - as tests/bin/waits.c, with what Java has to wait for. */
class Waits {
	static final Object monitor = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static final Semaphore semaphore = new Semaphore(0);
	static final AtomicLong waited = new AtomicLong();
	static volatile boolean stop;

	static void nap(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new Error(e);
		}
	}

	static void waiter(String kind) {
		long start = System.nanoTime();

		switch (kind) {
		case "monitor":
			synchronized (monitor) {
				waited.addAndGet(System.nanoTime() - start);
			}
			break;
		case "lock":
			lock.lock();
			waited.addAndGet(System.nanoTime() - start);
			lock.unlock();
			break;
		default:
			semaphore.acquireUninterruptibly();
			waited.addAndGet(System.nanoTime() - start);
		}
	}

	static void culprit(String kind) {
		switch (kind) {
		case "monitor":
			synchronized (monitor) {
				nap(4);
			}
			break;
		case "lock":
			lock.lock();
			nap(4);
			lock.unlock();
			break;
		default:
			nap(4);
			semaphore.release();
		}
	}

	static void keepAsking(String kind) {
		while (!stop) {
			waiter(kind);
			if (!kind.equals("semaphore"))
				nap(1);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		String kind = args[0];
		int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 300;
		Thread[] threads = new Thread[3];

		/* with -Xcomp, who calls first waits for the compiler: others would interpret them */
		culprit(kind);
		waiter(kind);
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> keepAsking(kind));
			threads[i].start();
		}
		for (int i = 0; i < rounds; i++) {
			culprit(kind);
			if (!kind.equals("semaphore"))
				nap(2);
		}
		stop = true;
		semaphore.release(threads.length);
		for (Thread thread : threads)
			thread.join();
		System.err.println("truth waited java-" + kind + " - waiter " + waited);
		System.err.println("truth caused java-" + kind + " - culprit " + waited);
	}
}
