import type { Principal } from '../domain/principal.ts';
import type { Bus, BusHeaders, BusMessage, Subscription } from '../ports/bus.ts';
import type { Method, Topic } from './method.ts';

/** What travels with every message of a request. */
export interface CallContext {
  readonly requestId: string;
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
}

export type MethodHandler<Request, Response> = (request: Request, context: CallContext) => Promise<Response>;

/** Typed messages over the bus: JSON payloads now, their protobuf encoding replaces `encode` and `decode` alone. */
export interface Messenger {
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

export function createMessenger(bus: Bus): Messenger {
  return {
    async call(method, request, context) {
      const answer = await bus.request(method.subject, encode(request), {
        deadlineMs: method.deadlineMs,
        headers: headersOf(context),
        ...(context.signal === undefined ? {} : { signal: context.signal }),
      });
      return decode(answer);
    },
    serve(method, handler) {
      return bus.respond(method.subject, async (message, signal) =>
        encode(await handler(decode(message.payload), contextOf(message, signal))),
      );
    },
    publish(topic, key, message) {
      return bus.publish(topic.subject(key), encode(message));
    },
    subscribe(topic, key, listener) {
      return bus.subscribe(topic.subject(key), (message) => listener(decode(message.payload)));
    },
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function encode(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value ?? null));
}

function decode<T>(payload: Uint8Array): T {
  return JSON.parse(decoder.decode(payload)) as T;
}

function headersOf(context: CallContext): BusHeaders {
  return {
    'request-id': context.requestId,
    ...(context.principal === undefined ? {} : { principal: JSON.stringify(context.principal) }),
  };
}

function contextOf(message: BusMessage, signal: AbortSignal): CallContext {
  const principal = message.headers['principal'];
  return {
    requestId: message.headers['request-id'] ?? '',
    signal,
    ...(principal === undefined ? {} : { principal: JSON.parse(principal) as Principal }),
  };
}
