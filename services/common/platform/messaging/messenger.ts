import { METHODS, type MethodPath } from '../../../../proto/gen/method-table.ts';
import { RUN_ORIGINS, type RunOrigin } from '../../domain/run.ts';
import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Bus, BusMessage, Subscription } from '../../storage/ports/bus.ts';
import type { Codec } from './codec.ts';
import type { AnswerOf, CallPath, ReplyOf, RequestOf, Topics } from './messages.ts';
import { fixedProof, type PrincipalProof } from './principal-proof.ts';
import type { PrincipalVerifier } from './principal-tokens.ts';

/** What travels with every message of a request. */
export interface CallContext {
  readonly requestId: string;
  readonly principal?: Principal;
  /** Without it a message names no principal, whatever `principal` says. */
  readonly proof?: PrincipalProof;
  readonly signal?: AbortSignal;
  /** Absent: the service itself began it. */
  readonly origin?: RunOrigin;
}

/** How principals travel: signed by auth, in all but the tests of single services. */
export interface PrincipalCarrier {
  /** What stands for the principal of the context; undefined when nothing does. */
  give(context: CallContext): Promise<string | undefined>;
  /** Throws as `PrincipalVerifier.verify`. */
  take(carried: string): Promise<Principal>;
}

/** Tokens of auth: given as they came, taken when they are right. */
export function signedPrincipals(verifier: PrincipalVerifier): PrincipalCarrier {
  return { give: async ({ proof }) => proof?.token(), take: (token) => verifier.verify(token) };
}

/** After a start has answered its first health check. */
const WARM_UP_MS = 1000;

type MethodPermission = (typeof METHODS)[MethodPath]['permission'];

export type MethodHandler<Path extends CallPath> = (
  request: RequestOf<Path>,
  context: CallContext,
) => Promise<ReplyOf<Path>>;

/** Typed messages over the bus, as the protobuf messages of `proto/`: see messages.ts for their types. */
export interface Messenger {
  /** Throws what the responder threw, and the errors of `Bus.request`. */
  call<Path extends CallPath>(path: Path, request: RequestOf<Path>, context: CallContext): Promise<AnswerOf<Path>>;
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
      // Once the start is over, lest the first request wait for them.
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

/** The messages of a method. They and the protobuf runtime would cost a start 80 ms: loaded with the first message. */
async function methodCodecs<Path extends CallPath>(
  path: Path,
): Promise<{ readonly request: Codec<RequestOf<Path>>; readonly answer: Codec<AnswerOf<Path>> }> {
  const { codecsOf } = await import('./codec.ts');
  return codecsOf(declaredPath(path)) as never;
}

async function topicCodec<Topic extends keyof Topics>(topic: Topic): Promise<Codec<Topics[Topic]>> {
  const { topicCodecs } = await import('./codec.ts');
  return topicCodecs[topic] as never;
}

/** As `proto/` declares it: methods that every service answers stand there once. */
function declaredPath(path: CallPath): MethodPath {
  return path in METHODS ? (path as MethodPath) : (path.replace(/^\w+/, 'system') as MethodPath);
}

function declaredAs(path: CallPath): (typeof METHODS)[MethodPath] {
  return METHODS[declaredPath(path)];
}

/** Who a request acts for; `PermissionDeniedError` when it says nobody. Methods that need a principal never see that. */
export function callerOf({ principal }: CallContext): Principal {
  if (principal === undefined) throw engramError('PermissionDeniedError', 'The message names no principal.');
  return principal;
}

/**
 * Requires of a request what its method declares, before any handler. Deletion is not done on the word of the service that
 * asks: auth is asked once more whether the principal may. Throws `PermissionDeniedError`.
 */
export async function guard(
  messenger: Pick<Messenger, 'call'>,
  permission: MethodPermission,
  request: unknown,
  context: CallContext,
): Promise<void> {
  if (permission === 'service') return;
  const { id } = callerOf(context);
  if (permission === 'principal') return;
  const { dataset } = request as { readonly dataset?: { readonly id: string } };
  if (dataset === undefined) throw new Error(`A request that demands ${permission} for ${id} names no dataset`);
  await messenger.call('auth.ResolveDatasets', { permission, ids: [dataset.id] }, context);
}

/** Another release, or somebody who is none of us, sent what we cannot read. */
function decode<Value>(codec: Codec<Value>, payload: Uint8Array, subject: string): Value {
  try {
    return codec.decode(payload);
  } catch (cause) {
    throw engramError('CogneeSystemError', `A message of ${subject} cannot be read.`, { cause });
  }
}

/** What the handler asks in turn, it asks for the same principal. */
async function contextOf(
  { headers }: BusMessage,
  signal: AbortSignal,
  principals: PrincipalCarrier,
): Promise<CallContext> {
  const carried = headers['principal'];
  const origin = RUN_ORIGINS.find((one) => one === headers['origin']);
  const context = { requestId: headers['request-id'] ?? '', signal, ...(origin === undefined ? {} : { origin }) };
  if (carried === undefined) return context;
  return { ...context, principal: await principals.take(carried), proof: fixedProof(carried) };
}
