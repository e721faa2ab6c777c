import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../../../test/support/until.ts';
import { createLogger, createSilentLogger } from '../observability/logger.ts';
import { createLifecycle, type LifecycleStep, type SignalHost } from './lifecycle.ts';

function recorder() {
  const events: string[] = [];
  const step = (name: string, extra: Partial<LifecycleStep> = {}): LifecycleStep => ({
    name,
    start: async () => void events.push(`start ${name}`),
    stop: async () => void events.push(`stop ${name}`),
    ...extra,
  });
  return { events, step };
}

function lifecycleOf(steps: readonly LifecycleStep[], stopTimeoutMs = 1_000) {
  const lifecycle = createLifecycle({ logger: createSilentLogger(), stopTimeoutMs });
  for (const step of steps) lifecycle.add(step);
  return lifecycle;
}

describe('createLifecycle', () => {
  it('starts in order and stops once in reverse', async () => {
    const { events, step } = recorder();
    const lifecycle = lifecycleOf([step('stores'), step('services'), { name: 'only a name' }, step('http')]);
    await lifecycle.start();
    expect(await Promise.all([lifecycle.stop(), lifecycle.stop()])).to.deep.equal([true, true]);
    expect(events).to.deep.equal([
      'start stores',
      'start services',
      'start http',
      'stop http',
      'stop services',
      'stop stores',
    ]);
    expect(() => lifecycle.add(step('late'))).to.throw('after the start');
  });

  it('undoes a start that fails, the failed step too, and throws its error', async () => {
    const { events, step } = recorder();
    const failing = step('http', { start: () => Promise.reject(new Error('port taken')) });
    const lifecycle = lifecycleOf([step('stores'), failing, step('never')]);
    expect(await lifecycle.start().catch((error: Error) => error.message)).to.equal('port taken');
    expect(events).to.deep.equal(['start stores', 'stop http', 'stop stores']);
  });

  it('goes on after a stop that fails or hangs, and says that it was not clean', async () => {
    const { events, step } = recorder();
    const lifecycle = lifecycleOf(
      [
        step('first'),
        step('hangs', { stop: () => new Promise<void>(() => {}) }),
        step('fails', { stop: () => Promise.reject(new Error('x')) }),
      ],
      100,
    );
    await lifecycle.start();
    const start = performance.now();
    expect(await lifecycle.stop()).to.equal(false);
    expect(performance.now() - start).to.be.within(90, 10_000);
    expect(events.at(-1)).to.equal('stop first');
  });

  it('waits for the step under way when it is stopped while starting, and starts no other', async () => {
    const { events, step } = recorder();
    const slow = step('slow', {
      start: async () => {
        await sleep(30);
        events.push('start slow');
      },
    });
    const lifecycle = lifecycleOf([slow, step('next')]);
    const starting = lifecycle.start().catch((error: Error) => error.message);
    expect(await lifecycle.stop()).to.equal(true);
    expect(await starting).to.include('Stopped while starting');
    expect(events).to.deep.equal(['start slow', 'stop slow']);
  });

  it('stops on the first signal and exits at once on the second', async () => {
    const { step } = recorder();
    const exits: number[] = [];
    const listeners = new Map<string, () => void>();
    const host: SignalHost = {
      on: (signal, listener) => listeners.set(signal, listener),
      exit: (code) => void exits.push(code),
    };
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', name: 't', destination: { write: (line) => void lines.push(line) } });
    const lifecycle = createLifecycle({ logger, stopTimeoutMs: 500 });
    lifecycle.add(step('slow', { stop: () => sleep(50).then(() => undefined) }));
    await lifecycle.start();
    lifecycle.handleSignals(host);
    listeners.get('SIGTERM')?.();
    expect(exits).to.deep.equal([]);
    listeners.get('SIGINT')?.();
    expect(exits).to.deep.equal([130]);
    await until('it exits', () => exits.length >= 2);
    expect(exits).to.deep.equal([130, 0]);
    expect(lines.join('')).to.include('lifecycle.stopping').and.include('lifecycle.stopped');
  });
});
