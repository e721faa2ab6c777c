import type { BodySettings } from './body.ts';

/** The part of the configuration that the HTTP layer works with. */
export interface HttpSettings extends BodySettings {
  readonly corsOrigins: readonly string[];
  readonly cookieName: string;
  /** Whether a request without credentials is refused; the OpenAPI document says so. */
  readonly authRequired: boolean;
  readonly guard: GuardSettings;
  /** Hosted mode: the host name of a tenant is a way into it. Default: host names say nothing. */
  readonly selectsTenantByHost?: boolean;
  /** Addresses and ranges whose `X-Forwarded-For` is believed; default none. */
  readonly trustedProxies?: readonly string[];
  /** Connections at the same time; more are closed at once. Default: as many as come. */
  readonly maxConnections?: number;
  /** How long a stop waits for requests that are being served. */
  readonly drainTimeoutMs: number;
}

/** Rules for requests that are refused before anything else reads them. */
export interface GuardSettings {
  /** A server that asks for no credentials on loopback: foreign hosts and origins are refused. */
  readonly isActive: boolean;
  /** Whether requests through a proxy are guarded too: it may forward requests of anyone. */
  readonly refusesProxies: boolean;
  /** Host names beside the loopback ones. */
  readonly allowedHosts: readonly string[];
}
