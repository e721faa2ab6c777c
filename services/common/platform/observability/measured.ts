import type { Metrics } from './metrics.ts';

type Method = (...values: unknown[]) => unknown;

/**
 * A port whose methods are timed under `name` (label `port`), so that adapters stay silent. A promise is timed until it
 * settles, an async iterable until it ends or is left.
 */
export function measured<Port extends object>(port: Port, name: string, metrics: Pick<Metrics, 'store'>): Port {
  const wrapper: Record<string, unknown> = {};
  for (const key of memberNames(port)) {
    const member = (port as Record<string, unknown>)[key];
    if (typeof member === 'function') {
      wrapper[key] = timed(port, member as Method, (outcome, durationMs) =>
        metrics.store({ port: name, method: key, outcome, durationMs }),
      );
    } else {
      Object.defineProperty(wrapper, key, {
        enumerable: true,
        get: () => (port as Record<string, unknown>)[key],
      });
    }
  }
  for (const symbol of [Symbol.asyncDispose, Symbol.dispose]) {
    const dispose = (port as Record<symbol, unknown>)[symbol];
    if (typeof dispose === 'function') Object.defineProperty(wrapper, symbol, { value: dispose.bind(port) });
  }
  return wrapper as Port;
}

/** Own members and those of its classes: adapters are written as closures or as classes. */
function memberNames(port: object): Set<string> {
  const names = new Set<string>();
  for (
    let level: object | null = port;
    level !== null && level !== Object.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level)) if (name !== 'constructor') names.add(name);
  }
  return names;
}

type Report = (outcome: 'ok' | 'error', durationMs: number) => void;

function timed(port: object, method: Method, report: Report): Method {
  return (...values) => {
    const start = performance.now();
    const end = (outcome: 'ok' | 'error') => report(outcome, performance.now() - start);
    let result: unknown;
    try {
      result = method.apply(port, values);
    } catch (error) {
      end('error');
      throw error;
    }
    if (result instanceof Promise) {
      result.then(
        () => end('ok'),
        () => end('error'),
      );
      return result;
    }
    if (isPlainAsyncIterable(result)) return timedIteration(result, end);
    end('ok');
    return result;
  };
}

/** A generator, not a stream: wrapping a stream would take its other methods away. */
function isPlainAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && !('pipe' in value);
}

async function* timedIteration(source: AsyncIterable<unknown>, end: (outcome: 'ok' | 'error') => void) {
  let outcome: 'ok' | 'error' = 'ok';
  try {
    yield* source;
  } catch (error) {
    outcome = 'error';
    throw error;
  } finally {
    end(outcome);
  }
}
