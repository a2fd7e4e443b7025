/** False when it takes longer than `ms`; it goes on, and its later failure is nobody's. Rejects as `work` before. */
export async function isSettledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects with the signal's reason when that aborts before; `work` goes on, and its later failure is nobody's. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  work.catch(() => undefined);
  signal.throwIfAborted();
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
