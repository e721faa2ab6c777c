import { settlesWithin } from '../async/time-limit.ts';
import type { Logger } from '../observability/logger.ts';

/** One thing that is started and stopped. */
export interface LifecycleStep {
  readonly name: string;
  start?(): Promise<void> | void;
  stop?(): Promise<void> | void;
}

interface LifecycleOptions {
  readonly logger: Logger;
  /** All stops together must end within this; what is left is abandoned and reported. */
  readonly stopTimeoutMs: number;
}

export interface Lifecycle {
  /** Steps start in the order they were added. Adding after `start` is an error. */
  add(step: LifecycleStep): void;
  /** Starts the steps in order. When one fails, those before it are stopped in reverse, and its error is thrown. */
  start(): Promise<void>;
  /** Reverse order; the same promise however often it is asked. False when a step failed or the deadline passed. */
  stop(): Promise<boolean>;
  /** SIGTERM and SIGINT stop once and exit 0 (1 when the stop was not clean); a second signal exits at once. */
  handleSignals(host: SignalHost): void;
}

/** The part of `process` that signals need. */
export interface SignalHost {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
  exit(code: number): void;
}

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { logger, stopTimeoutMs } = options;
  const steps: LifecycleStep[] = [];
  const started: LifecycleStep[] = [];
  let state: 'new' | 'starting' | 'running' = 'new';
  let stopping: Promise<boolean> | undefined;
  let starting: Promise<void> | undefined;

  async function startAll(): Promise<void> {
    for (const step of steps) {
      if (stopping !== undefined) throw new Error('Stopped while starting.');
      const begin = performance.now();
      // A step that fails half way is stopped too: it may hold a file or a socket.
      started.push(step);
      await step.start?.();
      logger.debug('lifecycle.started', { step: step.name, durationMs: Math.round(performance.now() - begin) });
    }
    state = 'running';
  }

  async function stopAll(): Promise<boolean> {
    const deadline = Date.now() + stopTimeoutMs;
    // A stop that comes in the middle of the start waits for the step that is under way.
    if (state === 'starting') await settlesWithin(settled(starting), deadline - Date.now());
    let clean = true;
    for (let step = started.pop(); step !== undefined; step = started.pop()) {
      clean = (await stopStep(step, deadline)) && clean;
    }
    return clean;
  }

  async function stopStep(step: LifecycleStep, deadline: number): Promise<boolean> {
    try {
      const run = Promise.resolve(step.stop?.());
      // Even after the deadline every step gets a moment, so that a slow one does not keep files of the others open.
      if (await settlesWithin(run, Math.max(deadline - Date.now(), LAST_MOMENT_MS))) return true;
      logger.error('lifecycle.stop-timed-out', { step: step.name });
    } catch (error) {
      logger.error('lifecycle.stop-failed', { step: step.name, error });
    }
    return false;
  }

  const lifecycle: Lifecycle = {
    add(step) {
      if (state !== 'new') throw new Error(`Step ${step.name} was added after the start.`);
      steps.push(step);
    },
    async start() {
      state = 'starting';
      starting = startAll();
      try {
        await starting;
      } catch (error) {
        state = 'running';
        await lifecycle.stop();
        throw error;
      }
    },
    stop() {
      stopping ??= stopAll();
      return stopping;
    },
    handleSignals: (host) => stopOnSignals(host, lifecycle, logger),
  };
  return lifecycle;
}

function stopOnSignals(host: SignalHost, lifecycle: Lifecycle, logger: Logger): void {
  let asked = false;
  const onSignal = (signal: string) => {
    if (asked) {
      logger.warn('lifecycle.second-signal', { signal });
      host.exit(130);
      return;
    }
    asked = true;
    logger.info('lifecycle.stopping', { signal });
    void lifecycle.stop().then((clean) => {
      logger.info('lifecycle.stopped', { clean });
      host.exit(clean ? 0 : 1);
    });
  };
  host.on('SIGTERM', () => onSignal('SIGTERM'));
  host.on('SIGINT', () => onSignal('SIGINT'));
}

const LAST_MOMENT_MS = 50;

async function settled(promise: Promise<void> | undefined): Promise<void> {
  await promise?.catch(() => undefined);
}
