import { RUN_ORIGINS, type RunOrigin } from '../../domain/run.ts';
import { engramError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Bus, BusMessage, Subscription } from '../../storage/ports/bus.ts';
import type { Codec } from './codec.ts';
import type { Method, Topic } from './method.ts';
import { resolveDatasets } from './methods/auth.ts';
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

export type MethodHandler<Request, Response> = (request: Request, context: CallContext) => Promise<Response>;

/** Typed messages over the bus, as the protobuf messages of `proto/`. */
export interface Messenger {
  /** Throws what the responder threw, and the errors of `Bus.request`. */
  call<Request, Response>(method: Method<Request, Response>, request: Request, context: CallContext): Promise<Response>;
  serve<Request, Response>(
    method: Method<Request, Response>,
    handler: MethodHandler<Request, Response>,
  ): Promise<Subscription>;
  publish<Message>(topic: Topic<Message>, key: string, message: Message): Promise<void>;
  subscribe<Message>(
    topic: Topic<Message>,
    key: string,
    listener: (message: Message) => void | Promise<void>,
  ): Promise<Subscription>;
}

export function createMessenger(bus: Bus, principals: PrincipalCarrier): Messenger {
  const messenger: Messenger = {
    async call(method, request, context) {
      const [codec, principal] = await Promise.all([method.codec(), principals.give(context)]);
      const answer = await bus.request(method.subject, codec.request.encode(request), {
        deadlineMs: method.deadlineMs,
        headers: {
          'request-id': context.requestId,
          ...(principal === undefined ? {} : { principal }),
          ...(context.origin === undefined ? {} : { origin: context.origin }),
        },
        ...(context.signal === undefined ? {} : { signal: context.signal }),
      });
      return decode(codec.response, answer, method.subject);
    },
    serve(method, handler) {
      // Once the start is over, lest the first request wait for them.
      setTimeout(method.codec, WARM_UP_MS).unref();
      return bus.respond(method.subject, async (message, signal) => {
        const [codec, context] = await Promise.all([method.codec(), contextOf(message, signal, principals)]);
        const request = decode(codec.request, message.payload, method.subject);
        await guard(messenger, method, request, context);
        return codec.response.encode(await handler(request, context));
      });
    },
    async publish(topic, key, message) {
      const codec = await topic.codec();
      await bus.publish(topic.subject(key), codec.encode(message));
    },
    async subscribe(topic, key, listener) {
      const subject = topic.subject(key);
      // Loaded with the first message: a service subscribes while it starts.
      return bus.subscribe(subject, async (message) => {
        const codec = await topic.codec();
        await listener(decode(codec, message.payload, subject));
      });
    },
  };
  return messenger;
}

/** Who a request acts for; `PermissionDeniedError` when it says nobody. Methods that need a principal never see that. */
export function callerOf({ principal }: CallContext): Principal {
  if (principal === undefined) throw engramError('PermissionDeniedError', 'The message names no principal.');
  return principal;
}

/**
 * What the method's declaration demands, before any handler. What cannot be undone is not done on the word of the service
 * that asks: auth is asked once more whether the principal may.
 */
async function guard<Request>(
  messenger: Pick<Messenger, 'call'>,
  { path, permission }: Method<Request, unknown>,
  request: Request,
  context: CallContext,
): Promise<void> {
  if (permission === 'service') return;
  const { id } = callerOf(context);
  if (permission === 'principal') return;
  const { dataset } = request as { readonly dataset?: { readonly id: string } };
  if (dataset === undefined) throw new Error(`${path} demands ${permission} for ${id} and names no dataset`);
  await messenger.call(resolveDatasets, { permission, ids: [dataset.id] }, context);
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
