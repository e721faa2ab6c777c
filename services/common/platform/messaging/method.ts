import { METHODS, type MethodPath } from '../../../../proto/gen/method-table.ts';
import type { Permission } from '../../kernel/principal.ts';
import { once } from '../async/once.ts';
import type { Codec, MethodCodec } from './codec.ts';

/** The services that ask, somebody they ask for, or somebody with a permission on the dataset of the request. */
export type MethodPermission = 'service' | 'principal' | Permission;

/**
 * A typed request between services. Subject, deadline and the rest are those of the method in `proto/`, by way of the
 * generated table, so they cannot drift. `codec` loads the messages with the first call: they and the protobuf runtime
 * cost a start 80 ms.
 */
export interface Method<Request, Response> {
  /** `<service>.<Method>`, as in `proto/README.md`. */
  readonly path: MethodPath;
  readonly subject: string;
  readonly deadlineMs: number;
  /** Whom the answer is for; see `CallOptions` in proto/engram/options/v1/options.proto. */
  readonly permission: MethodPermission;
  readonly codec: () => Promise<MethodCodec<Request, Response>>;
}

/** `codecs` has the codec of the method `service.Name` under `Name`. */
export function defineMethod<Request, Response>(
  path: MethodPath,
  codec: () => Promise<MethodCodec<Request, Response>>,
): Method<Request, Response> {
  const { deadlineMs, permission } = METHODS[path];
  return { path, subject: `engram.${path}`, deadlineMs, permission, codec: once(codec) };
}

/** A message to whoever listens. */
export interface Topic<Message> {
  readonly subject: (key: string) => string;
  readonly codec: () => Promise<Codec<Message>>;
}

export function defineTopic<Message>(prefix: string, codec: () => Promise<Codec<Message>>): Topic<Message> {
  return { subject: (key) => `engram.${prefix}.${key}`, codec: once(codec) };
}
