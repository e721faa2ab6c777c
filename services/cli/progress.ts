import { SingleBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

export interface Progress {
  /** `detail` says what is being done now. */
  update(done: number, detail: string): void;
  setTotal(total: number): void;
  stop(): void;
}

/** Lines for logs come at most this often. */
const LINE_INTERVAL_MS = 5_000;

/** A bar where a person looks on, now and then a line where a log is written. */
export function createProgress(
  terminal: Terminal,
  title: string,
  options: { readonly total: number; readonly unit: string },
): Progress {
  return terminal.isInteractive ? barProgress(terminal, title, options) : lineProgress(terminal, title, options);
}

function barProgress(
  terminal: Terminal,
  title: string,
  { total, unit }: { readonly total: number; readonly unit: string },
): Progress {
  const started = Date.now();
  let currentTotal = total;
  const bar = new SingleBar({
    format: `${title} {bar} {value}/{total} ${unit} | {rate}/s | {eta_formatted} left | {detail}`,
    stream: terminal.err as NodeJS.WritableStream,
    hideCursor: true,
    barsize: 28,
    etaBuffer: 50,
    fps: 8,
    linewrap: false,
    barCompleteChar: '█',
    barIncompleteChar: '░',
  });
  bar.start(total, 0, { rate: '0', detail: '' });
  return {
    update: (done, detail) =>
      bar.update(Math.min(done, currentTotal), { rate: rateText(done, started), detail: detail.slice(0, 40) }),
    setTotal: (next) => {
      currentTotal = next;
      bar.setTotal(next);
    },
    stop: () => bar.stop(),
  };
}

function lineProgress(
  terminal: Terminal,
  title: string,
  { total, unit }: { readonly total: number; readonly unit: string },
): Progress {
  const started = Date.now();
  let currentTotal = total;
  let lastLine = started;
  return {
    update: (done, detail) => {
      if (Date.now() - lastLine < LINE_INTERVAL_MS) return;
      lastLine = Date.now();
      terminal.err.write(
        `${title}: ${done}/${currentTotal} ${unit}, ${rateText(done, started)}/s${detail === '' ? '' : `, ${detail}`}\n`,
      );
    },
    setTotal: (next) => {
      currentTotal = next;
    },
    stop: () => undefined,
  };
}

function rateText(done: number, started: number): string {
  const rate = done / Math.max(0.001, (Date.now() - started) / 1_000);
  return rate >= 10 ? rate.toFixed(0) : rate.toFixed(1);
}
