import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerFunction } from './worker-messages.ts';

// Entry of a worker process: calls functions that its parent names, one after the other.
const memoryBytes = Number(process.argv[2]);
const isBusy = new Int32Array(new SharedArrayBuffer(4));
const watch = new Worker(new URL('./memory-watch.ts', import.meta.url), { workerData: { memoryBytes, isBusy } });
// No work before: a thread cannot start beside work that keeps this one busy. What the parent sends meanwhile waits.
await once(watch, 'message');
watch.unref();

// A terminal sends Ctrl-C to the whole group; the parent ends its workers when it has drained.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
// A library may drop a promise after its call was answered; that must not fail the call that came next.
process.on('unhandledRejection', () => undefined);

interface CallAtHand {
  readonly message: Extract<ToWorker, { kind: 'call' }>;
  readonly content: { readonly whole: Buffer | null; readonly parts: Uint8Array[]; length: number };
}

const modules = new Map<string, Promise<Record<string, WorkerFunction>>>();
let atHand: CallAtHand | null = null;

process.on('message', (message: ToWorker) => {
  if (message.kind === 'load') {
    void load(message.module);
  } else if (message.kind === 'call') {
    Atomics.store(isBusy, 0, 1);
    Atomics.notify(isBusy, 0);
    const { contentBytes } = message;
    const whole = contentBytes === null ? null : Buffer.allocUnsafeSlow(contentBytes);
    atHand = { message, content: { whole, parts: [], length: 0 } };
  } else if (message.kind === 'content') {
    keep(message.bytes);
  } else {
    const call = atHand;
    atHand = null;
    if (call !== null) void answer(call);
  }
});

function load(url: string): Promise<Record<string, WorkerFunction>> {
  const loaded = modules.get(url) ?? import(url);
  modules.set(url, loaded);
  return loaded;
}

function keep(bytes: Uint8Array): void {
  const content = atHand?.content;
  if (content === undefined) return;
  if (content.whole === null) content.parts.push(bytes);
  else content.whole.set(bytes, content.length);
  content.length += bytes.byteLength;
}

async function answer({ message: { module, name, input }, content }: CallAtHand): Promise<void> {
  let restBytes = process.memoryUsage.rss();
  let reply:
    | { readonly kind: 'result'; readonly result: unknown }
    | Omit<Extract<FromWorker, { kind: 'error' }>, 'isSpent'>;
  try {
    const { [name]: work } = await load(module);
    if (work === undefined) throw new Error(`${module} exports no ${name}`);
    restBytes = process.memoryUsage.rss();
    const outcome = await work(input, content.whole ?? Buffer.concat(content.parts));
    reply = { kind: 'result', result: isGenerator(outcome) ? await sendParts(outcome) : outcome };
  } catch (error) {
    reply = { kind: 'error', ...described(error) };
  }
  // The first call shows what the module needs at rest: beyond the middle of what is left, a process has grown too large.
  const isSpent = process.memoryUsage.rss() > (Math.min(restBytes, memoryBytes / 2) + memoryBytes) / 2;
  Atomics.store(isBusy, 0, 0);
  await send({ ...reply, isSpent });
}

function isGenerator(value: unknown): value is Generator | AsyncGenerator {
  if (typeof value !== 'object' || value === null || !('next' in value)) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}

async function sendParts(parts: Generator | AsyncGenerator): Promise<unknown> {
  for (;;) {
    const step = await parts.next();
    if (step.done === true) return step.value;
    await send({ kind: 'part', part: step.value });
  }
}

/** Resolves when the message is written, so that a result in parts is not held twice. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, () => resolve());
  });
}

function described(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, properties: {} };
  const plain = Object.entries(error).filter(([, value]) => /^(string|number|boolean)$/.test(typeof value));
  return { message: error.message, stack: error.stack, properties: Object.fromEntries(plain) };
}

void send({ kind: 'ready' });
