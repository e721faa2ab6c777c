import type { Principal } from '../../kernel/principal.ts';
import type { CallContext } from '../messaging/messenger.ts';

/** A WebSocket endpoint. The upgrade is accepted first, but for a spent budget (429); refusals are closes (1008), so `principal` may be null. */
export interface SocketRoute {
  /** `/api/v1/cognify/subscribe/:runId` */
  readonly path: string;
  serve(connection: SocketConnection): Promise<void>;
}

export interface SocketConnection {
  readonly principal: Principal | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly context: CallContext;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /** One JSON text frame; resolves when it was handed to the socket. */
  send(frame: unknown): Promise<void>;
  close(code: number, reason?: string): void;
}
