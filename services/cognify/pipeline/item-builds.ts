import type { DataItemId } from '../../common/domain/brand.ts';

/** Builds under way in this process, so that forgetting an item stops them at once. */
export interface ItemBuilds {
  /** Runs `build` with a signal that `stop` of the item aborts too. */
  track<Result>(
    item: DataItemId,
    signal: AbortSignal,
    build: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  stop(items: readonly DataItemId[]): void;
}

/** The item of the build was forgotten or reset. */
export class BuildStoppedError extends Error {
  override readonly name = 'BuildStoppedError';
}

export function createItemBuilds(): ItemBuilds {
  const controllers = new Map<DataItemId, Set<AbortController>>();
  return {
    async track(item, signal, build) {
      const controller = new AbortController();
      const set = controllers.get(item) ?? new Set();
      controllers.set(item, set.add(controller));
      try {
        return await build(AbortSignal.any([signal, controller.signal]));
      } finally {
        set.delete(controller);
        if (set.size === 0) controllers.delete(item);
      }
    },
    stop(items) {
      for (const item of items) {
        for (const controller of controllers.get(item) ?? []) {
          controller.abort(new BuildStoppedError(`item ${item} was forgotten`));
        }
      }
    },
  };
}
