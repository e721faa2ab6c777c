import type { Logger } from '../../services/common/ports/logger.ts';
import type { Controller } from './controller.ts';
import type { HealthChecks } from './health.ts';
import type { Informer } from './informer.ts';
import type { KubeObject } from './kube-object.ts';
import type { LeaderElector } from './leader-election.ts';

interface ManagerOptions {
  readonly informers: readonly Pick<
    Informer<KubeObject>,
    'kind' | 'start' | 'stop' | 'synced' | 'whenSynced' | 'isAlive'
  >[];
  readonly controllers: readonly Controller[];
  readonly elector: LeaderElector;
  readonly logger: Logger;
  /** Flushed before the lease is released. */
  readonly events: { flush(): Promise<void> };
}

/** Starts the caches, then the election, then the workers, and stops them in the opposite order. */
export interface Manager {
  /** Returns at once; reconciles begin when the caches are synced and this process leads. */
  start(): void;
  /** Stops the workers, releases the lease, stops the watches. */
  stop(): Promise<void>;
  readonly readiness: HealthChecks;
  readonly liveness: HealthChecks;
}

export function createManager(options: ManagerOptions): Manager {
  const { informers, controllers, elector, logger, events } = options;
  const stopping = new AbortController();
  let starting: Promise<void> | undefined;

  async function begin(): Promise<void> {
    await Promise.all(informers.map((informer) => informer.whenSynced(stopping.signal)));
    logger.info('manager.caches.synced', { kinds: informers.map(({ kind }) => kind.kind) });
    elector.start();
    await elector.whenLeading(stopping.signal);
    for (const controller of controllers) controller.start();
    logger.info('manager.working', { kinds: controllers.map(({ kind }) => kind) });
  }

  return {
    start() {
      for (const controller of controllers) controller.subscribe();
      for (const informer of informers) informer.start();
      starting = begin().catch((error: unknown) => {
        if (!stopping.signal.aborted) logger.error('manager.start.failed', { error });
      });
    },
    async stop() {
      stopping.abort(new Error('The operator is stopping.'));
      await starting;
      await Promise.all(controllers.map((controller) => controller.stop()));
      await events.flush();
      await elector.stop();
      await Promise.all(informers.map((informer) => informer.stop()));
    },
    readiness: Object.fromEntries(
      informers.map((informer) => [`cache ${informer.kind.kind}`, () => informer.synced] as const),
    ),
    liveness: {
      ...Object.fromEntries(
        informers.map((informer) => [`watch ${informer.kind.kind}`, () => informer.isAlive()] as const),
      ),
      'leader loop': () => starting === undefined || !informers.every(({ synced }) => synced) || elector.isAlive(),
    },
  };
}
