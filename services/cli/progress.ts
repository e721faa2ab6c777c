import { SingleBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

export interface Progress {
  /** `detail` says what is being done now; `part`: how much of the next one is done, 0 to 1. */
  update(done: number, detail: string, part?: number): void;
  setTotal(total: number): void;
  stop(): void;
}

/** Lines for logs come at most this often. */
const LINE_INTERVAL_MS = 5_000;

interface ProgressOptions {
  readonly total: number;
  readonly unit: string;
  /** Says what becomes of the work when this client is stopped. */
  readonly whenInterrupted: () => string;
}

/** A bar where a person looks on, now and then a line where a log is written. */
export function createProgress(terminal: Terminal, title: string, options: ProgressOptions): Progress {
  const create = terminal.isInteractive ? barProgress : lineProgress;
  const progress = create(terminal, title, options);
  const ignoreInterrupt = terminal.onInterrupt?.(() => {
    progress.stop();
    terminal.err.write(`${terminal.isInteractive ? '\n' : ''}${options.whenInterrupted()}\n`);
  });
  return {
    ...progress,
    stop() {
      ignoreInterrupt?.();
      progress.stop();
    },
  };
}

function barProgress(terminal: Terminal, title: string, { total, unit }: ProgressOptions): Progress {
  const leftOf = createPace();
  let currentTotal = total;
  const bar = new SingleBar({
    format: `${title} {bar} {done}/{total} ${unit}{facts}`,
    stream: terminal.err as NodeJS.WritableStream,
    hideCursor: true,
    barsize: 28,
    fps: 8,
    linewrap: false,
    barCompleteChar: '█',
    barIncompleteChar: '░',
  });
  bar.start(total, 0, { done: 0, facts: '' });
  return {
    update: (done, detail, part = 0) =>
      bar.update(Math.min(done + part, currentTotal), {
        done: Math.min(done, currentTotal),
        facts: [leftOf(done + part, currentTotal), detail.slice(0, 40)]
          .map((fact) => (fact === '' ? '' : ` | ${fact}`))
          .join(''),
      }),
    setTotal: (next) => {
      currentTotal = next;
      bar.setTotal(next);
    },
    stop: () => bar.stop(),
  };
}

function lineProgress(terminal: Terminal, title: string, { total, unit }: ProgressOptions): Progress {
  const started = Date.now();
  const leftOf = createPace();
  let currentTotal = total;
  let lastLine = started;
  return {
    update: (done, detail, part = 0) => {
      const left = leftOf(done + part, currentTotal);
      if (Date.now() - lastLine < LINE_INTERVAL_MS) return;
      lastLine = Date.now();
      const facts = [`${done}/${currentTotal} ${unit}`, `${rateText(done, started)}/s`, left, detail];
      terminal.err.write(`${title}: ${facts.filter((fact) => fact !== '').join(', ')}\n`);
    },
    setTotal: (next) => {
      currentTotal = next;
    },
    stop: () => undefined,
  };
}

/** Advances and share of the work after which the remaining time is told: what runs side by side ends in heaps. */
const MIN_ADVANCES = 3;
const MIN_SHARE = 0.1;

/** Returns a function that tells the remaining time by the pace so far, or '' while that says nothing yet. */
export function createPace(now: () => number = Date.now): (value: number, total: number) => string {
  const started = now();
  let last = 0;
  let advances = 0;
  return (value, total) => {
    if (value > last) advances += 1;
    last = value;
    if (advances < MIN_ADVANCES || value < total * MIN_SHARE || value >= total) return '';
    const seconds = ((now() - started) / 1_000 / value) * (total - value);
    return `${durationText(Math.ceil(seconds))} left`;
  };
}

function durationText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours}h${String(minutes).padStart(2, '0')}m`;
  return minutes > 0 ? `${minutes}m${String(seconds % 60).padStart(2, '0')}s` : `${seconds}s`;
}

function rateText(done: number, started: number): string {
  const rate = done / Math.max(0.001, (Date.now() - started) / 1_000);
  return rate >= 10 ? rate.toFixed(0) : rate.toFixed(1);
}
