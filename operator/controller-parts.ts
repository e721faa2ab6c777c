import type { Caches } from './caches.ts';
import type { OwnershipLabels } from './kube-runtime/applier.ts';
import type { ControllerOptions } from './kube-runtime/controller.ts';
import type { FrameDependencies } from './kube-runtime/reconcile-frame.ts';
import type { OperatorOptions } from './operator-options.ts';
import type { OwnServices } from './tenant/dedicated/own-services.ts';

/** What the controllers of both kinds are made from. */
export interface ControllerParts {
  readonly options: OperatorOptions;
  readonly caches: Caches;
  /** Its client writes only while this process leads. */
  readonly frame: FrameDependencies;
  readonly labels: OwnershipLabels;
  readonly ownServices: OwnServices;
  readonly isLeading: () => boolean;
}

/**
 * A failed key waits from half a second up to half a minute, so that what comes back is found soon; after five times, about
 * ten seconds, it is Stalled.
 */
const BACKOFF_MS = { first: 500, most: 30_000 };

/** What is the same for both kinds. */
export function controlOf({
  options: { workers },
  frame: { clock, logger, metrics },
}: ControllerParts): Omit<ControllerOptions, 'reconciler' | 'sources'> {
  return { workers, clock, logger, metrics, queue: { backoffMs: BACKOFF_MS } };
}
