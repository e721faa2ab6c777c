import type { Route } from '../http/route.ts';
import type { SocketRoute } from '../http/socket-route.ts';

/** A service as the composition root sees it: made from its dependencies, then started and stopped in order. */
export interface Service {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
  /** Registers bus handlers and starts consumers. Resolves when the service can serve. */
  start(): Promise<void>;
  /**
   * Ends what open requests wait for, as `stop` will; the handlers stay. Called when no request is taken any more, so that
   * those that are open get their answer at once.
   */
  drain?(): Promise<void>;
  /** Stops taking work, ends or hands over what runs (architecture.md §6). Never throws. */
  stop(): Promise<void>;
}
