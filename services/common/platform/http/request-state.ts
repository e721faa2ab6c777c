import type { ParameterizedContext } from 'koa';
import type { Principal } from '../../kernel/principal.ts';
import type { Route } from './route.ts';

/** State of a request that the parts of the chain share. */
export interface RequestState {
  requestId: string;
  /** Template of the route, once it is known: label of metrics and log lines. */
  route: string | null;
  /** Principal of the request; null before it is known, and without credentials. */
  principal: Principal | null;
  /** The error behind a 500, for the log line. */
  error: unknown;
  /** How the route spells errors. */
  presentError?: Route['presentError'] | undefined;
}

export type RequestContext = ParameterizedContext<RequestState>;
export type Next = () => Promise<unknown>;

const SANE_ID = /^[\w.:+/=-]{1,128}$/;

/** The client's own request id when it is a harmless word, so that its logs and ours can be joined. */
export function saneRequestId(value: string | readonly string[] | undefined): string | null {
  return typeof value === 'string' && SANE_ID.test(value) ? value : null;
}
