import { METHODS, type MethodPath } from '../../../../proto/gen/method-table.ts';
import { RUN_ORIGINS, type RunOrigin } from '../../domain/run.ts';
import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Clock } from '../../ports/system.ts';
import type { Bus, BusMessage, Subscription } from '../../storage/ports/bus.ts';
import { once } from '../async/once.ts';
import type { Codec } from './codec.ts';
import type { AnswerOf, CallPath, ReplyOf, RequestOf, Topics } from './messages.ts';
import { fixedProof, type PrincipalProof } from './principal-proof.ts';
import { createPrincipalVerifier, type PrincipalVerifier } from './principal-tokens.ts';

/** Context that travels with every message of a request. */
export interface CallContext {
  readonly requestId: string;
  readonly principal?: Principal;
  /** Without it a message names no principal, whatever `principal` says. */
  readonly proof?: PrincipalProof;
  readonly signal?: AbortSignal;
  /** Absent: the service itself began it. */
  readonly origin?: RunOrigin;
  /** Id for what a request with `Idempotency-Key` makes: the same each time that it is carried out. */
  readonly operationId?: string;
}

/** Writes and reads the principal of messages: signed by auth, except in tests of single services. */
export type PrincipalCarrier = ReturnType<typeof signedPrincipals>;

/** Carries principals as tokens of auth: sent as they came, verified when received. */
function signedPrincipals(verifier: PrincipalVerifier) {
  return {
    /** Returns the text that stands for the principal of the context; undefined without one. */
    give: async ({ proof }: CallContext) => proof?.token() /** Throws as `PrincipalVerifier.verify`. */,
    take: (token: string) => verifier.verify(token),
  };
}

/** After a start has answered its first health check. */
const WARM_UP_MS = 1000;

type MethodPermission = (typeof METHODS)[MethodPath]['permission'];

type MethodHandler<Path extends CallPath> = (request: RequestOf<Path>, context: CallContext) => Promise<ReplyOf<Path>>;

/** Calls methods of other services. */
export interface MessageCaller {
  /** Throws what the responder threw, and the errors of `Bus.request`. */
  call<Path extends CallPath>(path: Path, request: RequestOf<Path>, context: CallContext): Promise<AnswerOf<Path>>;
}

/** Typed messages over the bus, as the protobuf messages of `proto/`: see messages.ts for their types. */
export interface Messenger extends MessageCaller {
  serve<Path extends CallPath>(path: Path, handler: MethodHandler<Path>): Promise<Subscription>;
  publish<Topic extends keyof Topics>(topic: Topic, key: string, message: Topics[Topic]): Promise<void>;
  subscribe<Topic extends keyof Topics>(
    topic: Topic,
    key: string,
    listener: (message: Topics[Topic]) => void | Promise<void>,
  ): Promise<Subscription>;
}

export function createMessenger(bus: Bus, principals: PrincipalCarrier): Messenger {
  const messenger: Messenger = {
    async call(path, request, context) {
      const subject = `engram.${path}`;
      const [codecs, principal] = await Promise.all([methodCodecs(path), principals.give(context)]);
      const answer = await bus.request(subject, codecs.request.encode(request), {
        deadlineMs: declaredAs(path).deadlineMs,
        headers: {
          'request-id': context.requestId,
          ...(principal === undefined ? {} : { principal }),
          ...(context.origin === undefined ? {} : { origin: context.origin }),
        },
        ...(context.signal === undefined ? {} : { signal: context.signal }),
      });
      return decode(codecs.answer, answer, subject);
    },
    serve(path, handler) {
      const subject = `engram.${path}`;
      // After the start, so that the first request does not wait for them.
      setTimeout(() => void methodCodecs(path).catch(() => undefined), WARM_UP_MS).unref();
      return bus.respond(subject, async (message, signal) => {
        const [codecs, context] = await Promise.all([methodCodecs(path), contextOf(message, signal, principals)]);
        const request = decode(codecs.request, message.payload, subject);
        await guard(messenger, declaredAs(path).permission, request, context);
        return codecs.answer.encode((await handler(request, context)) as AnswerOf<typeof path>);
      });
    },
    async publish(topic, key, message) {
      const codec = await topicCodec(topic);
      await bus.publish(`engram.${topic}.${key}`, codec.encode(message));
    },
    async subscribe(topic, key, listener) {
      const subject = `engram.${topic}.${key}`;
      // Loaded with the first message: a service subscribes while it starts.
      return bus.subscribe(subject, async (message) => {
        const codec = await topicCodec(topic);
        await listener(decode(codec, message.payload, subject));
      });
    },
  };
  return messenger;
}

/** Loaded with the first message: the codecs and the protobuf runtime would make each start longer. */
const codecModule = once(() => import('./codec.ts'));

async function methodCodecs<Path extends CallPath>(
  path: Path,
): Promise<{ readonly request: Codec<RequestOf<Path>>; readonly answer: Codec<AnswerOf<Path>> }> {
  const { codecsOf } = await codecModule();
  return codecsOf(declaredPath(path)) as never;
}

async function topicCodec<Topic extends keyof Topics>(topic: Topic): Promise<Codec<Topics[Topic]>> {
  const { topicCodecs } = await codecModule();
  return topicCodecs[topic] as never;
}

/** Returns the path in `proto/`, which lists methods of every service once. */
function declaredPath(path: CallPath): MethodPath {
  return path in METHODS ? (path as MethodPath) : (path.replace(/^\w+/, 'system') as MethodPath);
}

function declaredAs(path: CallPath): (typeof METHODS)[MethodPath] {
  return METHODS[declaredPath(path)];
}

/** Returns the principal of a request; throws `PermissionDeniedError` without one. */
export function callerOf({ principal }: CallContext): Principal {
  if (principal === undefined) throw engramError('PermissionDeniedError', 'The message names no principal.');
  return principal;
}

/**
 * Checks the permission that a method declares, before any handler. For deletions the word of the calling service is not
 * enough: auth is asked once more. Throws `PermissionDeniedError`.
 */
export async function guard(
  messenger: MessageCaller,
  permission: MethodPermission,
  request: unknown,
  context: CallContext,
): Promise<void> {
  if (permission === 'service') return;
  const { id } = callerOf(context);
  if (permission === 'principal') return;
  const { dataset } = request as { readonly dataset?: { readonly id: string } };
  if (dataset === undefined) throw new Error(`A request that demands ${permission} for ${id} names no dataset`);
  await messenger.call('auth.ResolveDatasets', { permission, ids: [dataset.id], partly: true }, context);
}

/** Decodes a message; another release, or a foreign client of the bus, may have sent one that cannot be read. */
function decode<Value>(codec: Codec<Value>, payload: Uint8Array, subject: string): Value {
  try {
    return codec.decode(payload);
  } catch (cause) {
    throw engramError('CogneeSystemError', `A message of ${subject} cannot be read.`, { cause });
  }
}

/** Returns the context of a message: further calls of its handler have the same principal. */
async function contextOf({ headers }: BusMessage, signal: AbortSignal, principals: PrincipalCarrier) {
  const carried = headers['principal'];
  const origin = RUN_ORIGINS.find((one) => one === headers['origin']);
  const context = { requestId: headers['request-id'] ?? '', signal, ...(origin === undefined ? {} : { origin }) };
  if (carried === undefined) return context;
  return { ...context, principal: await principals.take(carried), proof: fixedProof(carried) };
}

/** The messenger of a process: principals are believed when auth signed them, by the keys that auth answers for. */
export function createSignedMessenger(bus: Bus, clock: Clock): Messenger {
  const keys = async () => (await messenger.call('auth.GetPublicKeys', {}, { requestId: 'principal-keys' })).jwks;
  const messenger = createMessenger(bus, signedPrincipals(createPrincipalVerifier({ keys, clock })));
  return messenger;
}
