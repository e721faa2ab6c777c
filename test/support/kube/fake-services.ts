import type { Services } from '../../../operator/installation/services.ts';
import type { ServiceName } from '../../../services/common/domain/service-paths.ts';
import { engramError } from '../../../services/common/kernel/errors.ts';
import type { AnswerOf, CallPath, RequestOf } from '../../../services/common/platform/messaging/messages.ts';
import type { CallContext } from '../../../services/common/platform/messaging/messenger.ts';
import { type FakeDatasets, serveDatasets } from './fake-dataset-services.ts';
import { type FakeTenants, serveTenants } from './fake-tenant-services.ts';

/** Answers a method of the services. */
export type Serve = <Path extends CallPath>(
  path: Path,
  handler: (request: RequestOf<Path>) => AnswerOf<Path> | Promise<AnswerOf<Path>>,
) => void;

interface Call {
  /** `ensureTenant` */
  readonly method: string;
  readonly request: unknown;
}

/** Records calls, and makes those fail that a test wants to fail. */
interface CallRecorder {
  readonly calls: readonly Call[];
  /** Called before an answer, by the name of the method, to change something in the middle. */
  before: Record<string, () => void | Promise<void>>;
  fail(method: string, error: Error, times?: number): void;
  heal(): void;
  countOf(method: string): number;
}

/** The services of an installation in memory, with the faults that a test asks for. */
export interface FakeServices extends Services, CallRecorder, FakeTenants, FakeDatasets {
  sick: readonly ServiceName[];
}

export const unavailable = (): Error => engramError('ServiceUnavailableError', 'Nobody answers.', { retryable: true });

/** Services that answer by handlers alone. */
export function servicesOf(register: (serve: Serve) => void): Services {
  const { serve, services } = createHandlers();
  register(serve);
  return services;
}

function createHandlers(): { readonly serve: Serve; readonly services: Services } {
  const handlers = new Map<string, (request: unknown) => unknown>();
  return {
    serve: (path, handler) => void handlers.set(path, handler as (request: unknown) => unknown),
    services: {
      async call<Path extends CallPath>(path: Path, request: RequestOf<Path>): Promise<AnswerOf<Path>> {
        const handler = handlers.get(path);
        if (handler === undefined) throw new Error(`The fake services have no ${path}.`);
        return (await handler(request)) as AnswerOf<Path>;
      },
      unhealthy: async () => [],
    },
  };
}

export function createFakeServices(): FakeServices {
  const calls: Call[] = [];
  let faults: { method: string; error: Error; left: number }[] = [];
  const recorder: CallRecorder = {
    calls,
    before: {},
    fail: (method, error, times = 1) => void faults.push({ method, error, left: times }),
    heal() {
      faults = [];
    },
    countOf: (name) => calls.filter(({ method }) => method === name).length,
  };
  const { serve, services } = createHandlers();
  const fake: FakeServices = Object.assign(serveDatasets(serve, serveTenants(serve)), recorder, {
    sick: [] as readonly ServiceName[],
    unhealthy: async () => fake.sick,
    async call<Path extends CallPath>(path: Path, request: RequestOf<Path>, context: CallContext) {
      const [, name = ''] = path.split('.');
      const caller = `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
      calls.push({ method: caller, request: structuredClone(request) });
      await fake.before[caller]?.();
      const fault = faults.find((each) => each.method === caller && each.left > 0);
      if (fault !== undefined) {
        fault.left -= 1;
        throw fault.error;
      }
      return services.call(path, request, context);
    },
  });
  return fake;
}
