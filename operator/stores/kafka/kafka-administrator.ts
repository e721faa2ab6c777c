import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { abortable } from '../../../services/common/platform/async/abortable.ts';
import {
  isNotAllowed,
  isOfDriver,
  isTimeout,
  isTls,
  isUnreachable,
  isWrongLogin,
  rootOf,
  typeOf,
} from '../../../services/common/storage/kafka/kafka-errors.ts';
import { away, failed, refused, tooSlow, translatingErrors } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import type { Provision, StoreAdministrator } from '../store-administrator.ts';

interface KafkaAdministratorOptions {
  readonly brokers: readonly string[];
  /** For SCRAM-SHA-256, both or none. The services of all realms get the same login: the client cannot create users. */
  readonly user?: string;
  readonly password?: string;
  /** PEM; turns TLS on. */
  readonly caFile?: string;
}

/** Isolates realms by prefixes of topic names. The services create the topics, which cannot have a mark. */
export function createKafkaAdministrator(options: KafkaAdministratorOptions): StoreAdministrator {
  const { brokers, user, password, caFile } = options;
  const store = `Kafka at ${brokers.join(', ')}`;
  const translated = (error: unknown) => administratorError(error, store);
  const guarded = async <T>(signal: AbortSignal, work: (admin: Admin) => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const admin = openKafka(options).admin();
    const connected = async () => {
      await admin.connect();
      return work(admin);
    };
    try {
      return await translatingErrors(signal, translated, () => abortable(connected(), signal));
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  };
  return {
    driver: 'kafka',
    roles: ['Events'],
    makesUsers: false,
    async ensure(realm, _credentials, signal) {
      const prefix = prefixOf(realm);
      await guarded(signal, (admin) => topicsOf(admin, realm));
      const provision: Provision = {
        settings: {
          ENGRAM_KAFKA_BROKERS: brokers.join(','),
          ENGRAM_KAFKA_TOPIC_PREFIX: prefix,
          ...(user === undefined ? {} : { ENGRAM_KAFKA_USER: user }),
        },
        secrets: password === undefined ? {} : { ENGRAM_KAFKA_PASSWORD: password },
        files: caFile === undefined ? {} : { ENGRAM_KAFKA_CA_FILE: readFileSync(caFile, 'utf8') },
        stores: [{ role: 'Events', driver: 'kafka', name: prefix, isolation: 'Label', ownCredentials: false }],
      };
      return provision;
    },
    async remove(realm, signal) {
      prefixOf(realm);
      await guarded(signal, async (admin) => {
        const topics = await topicsOf(admin, realm);
        if (topics.length > 0) await admin.deleteTopics({ topics: [...topics] }).catch(unlessGone);
        // Brokers learn of the removal one after the other; a count directly afterwards must not find the topics.
        for (let times = 0; times < 50 && (await topicsOf(admin, realm)).length > 0; times += 1) {
          await sleep(100, undefined, { signal });
        }
      });
    },
    async residue(realm, signal) {
      prefixOf(realm);
      return guarded(signal, async (admin) => (await topicsOf(admin, realm)).length);
    },
    async close() {},
  };
}

function openKafka({ brokers, user, password, caFile }: KafkaAdministratorOptions): Kafka {
  return new Kafka({
    brokers: [...brokers],
    clientId: 'engram-operator',
    connectionTimeout: 3_000,
    authenticationTimeout: 5_000,
    requestTimeout: 10_000,
    logLevel: logLevel.NOTHING,
    // Few retries: the caller retries by itself with back-off.
    retry: { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 },
    ...(caFile === undefined ? {} : { ssl: { ca: [readFileSync(caFile)] } }),
    ...(user === undefined || password === undefined
      ? {}
      : { sasl: { mechanism: 'scram-sha-256' as const, username: user, password } }),
  });
}

/** Another process removed the same topic. */
function unlessGone(error: unknown): void {
  if (typeOf(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
}

function prefixOf(realm: Realm): string {
  return `${namesOf(realm).dashed}.`;
}

async function topicsOf(admin: Admin, realm: Realm): Promise<readonly string[]> {
  const prefix = prefixOf(realm);
  return (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
}

/** Translates an error of the client to one of the port. */
function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const root = rootOf(error);
  if (isWrongLogin(root)) {
    return refused(store, 'look at ENGRAM_KAFKA_USER and ENGRAM_KAFKA_PASSWORD of the operator', error);
  }
  if (isNotAllowed(root)) {
    return refused(store, 'ENGRAM_KAFKA_USER of the operator needs to describe and delete topics engram-*', error);
  }
  if (isTls(root)) {
    return refused(store, 'its certificate is not to be trusted, or only one of both uses TLS', error);
  }
  if (isTimeout(root)) return tooSlow(store, error);
  if (isUnreachable(root)) return away(store, error);
  return isOfDriver(root) ? failed(store, typeOf(root) || root.name, error) : error;
}
