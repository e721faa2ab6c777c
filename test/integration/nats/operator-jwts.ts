import { randomUUID } from 'node:crypto';
import { nkeys } from 'nats';

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** Subjects that a user may send to and listen to; absent: all. */
export interface UserLimits {
  readonly publish?: readonly string[];
  readonly subscribe?: readonly string[];
  /** Answers to what reached the user, beside `publish`. */
  readonly responses?: { readonly max: number; readonly expiresSeconds: number } | null;
  /** Seconds since 1970; default: never. */
  readonly expiresAt?: number;
}

/** An operator with a system account and one account for the services, as `nsc` makes them. */
interface TestOperator {
  /** Settings of a server that trusts the operator and knows its accounts: its resolver is its memory. */
  readonly serverConfig: string;
  /** The content of a credentials file. */
  credentials(limits?: UserLimits): string;
}

const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const ACCOUNT_LIMITS = {
  ...UNLIMITED,
  imports: -1,
  exports: -1,
  wildcards: true,
  conn: -1,
  leaf: -1,
  mem_storage: -1,
  disk_storage: -1,
  streams: -1,
  consumer: -1,
};

export function createOperator(): TestOperator {
  const operator = nkeys.createOperator();
  const system = nkeys.createAccount();
  const services = nkeys.createAccount();
  const account = (pair: KeyPair, name: string, limits: object): string =>
    signedBy(operator, pair, name, { type: 'account', limits });
  // JetStream cannot be had in the system account.
  const { mem_storage: _, disk_storage: __, streams: ___, consumer: ____, ...systemLimits } = ACCOUNT_LIMITS;
  return {
    serverConfig: [
      `operator: ${signedBy(operator, operator, 'test', { type: 'operator' })}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      // Of the 4 KiB that it takes otherwise, a JWT with the subjects of a service fills more.
      'max_control_line: 65536',
      'resolver_preload: {',
      `  ${system.getPublicKey()}: ${account(system, 'SYS', systemLimits)}`,
      `  ${services.getPublicKey()}: ${account(services, 'services', ACCOUNT_LIMITS)}`,
      '}\n',
    ].join('\n'),
    credentials({ publish, subscribe, responses = null, expiresAt } = {}) {
      const user = nkeys.createUser();
      const permissions = {
        pub: publish === undefined ? {} : { allow: publish },
        sub: subscribe === undefined ? {} : { allow: subscribe },
        // Nanoseconds.
        ...(responses === null ? {} : { resp: { max: responses.max, ttl: responses.expiresSeconds * 1e9 } }),
      };
      const claims = { type: 'user', ...UNLIMITED, ...permissions };
      const jwt = signedBy(services, user, 'service', claims, expiresAt);
      const seed = new TextDecoder().decode(user.getSeed());
      return [
        `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n`,
        `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
      ].join('\n');
    },
  };
}

/** What NATS calls a JWT: `alg` is its own, and the claims about the subject are under `nats`. */
function signedBy(issuer: KeyPair, subject: KeyPair, name: string, claims: object, expiresAt?: number): string {
  const payload = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    ...(expiresAt === undefined ? {} : { exp: expiresAt }),
    name,
    nats: { ...claims, version: 2 },
  };
  const text = [{ typ: 'JWT', alg: 'ed25519-nkey' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString('base64url')}`;
}
