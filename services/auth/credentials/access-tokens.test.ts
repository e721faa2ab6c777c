import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { expect } from 'chai';
import { createLocalJWKSet, type JWK, jwtVerify } from 'jose';
import { testClock } from '../../../test/support/auth-service.ts';
import { asId } from '../../common/kernel/ids.ts';
import { loadConfig } from '../../common/platform/config/load-config.ts';
import type { TokenKey } from '../../common/platform/config/token-keys.ts';
import type { User } from '../../common/records/auth/users.ts';
import { type AccessTokensOptions, createAccessTokens } from './access-tokens.ts';

const ADA = {
  id: asId<User['id']>('0d6c0000-0000-4000-8000-000000000001'),
  passwordHash: '$argon2id$stored',
  sessionEpoch: 0,
};
const SECRET = 'a secret for tests only';
const NEXT = 'the secret that comes after it';

function keysOf(...keys: readonly KeyObject[]): readonly TokenKey[] {
  const pems = keys.map((key) => key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' }));
  return loadConfig({ ENGRAM_JWT_SIGNING_KEYS: pems.join('') }).config.jwtSigningKeys ?? [];
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
const headerOf = (token: string) => decode(token.split('.')[0]);

describe('keys of login tokens', () => {
  const clock = testClock();
  const ids = { uuid: randomUUID, ordered: randomUUID };
  const tokensOf = (options: Partial<AccessTokensOptions> = {}) =>
    createAccessTokens({ secret: SECRET, lifetimeSeconds: 3600, clock, ids, ...options });
  const issued = async (options: Partial<AccessTokensOptions> = {}) => (await tokensOf(options).issue(ADA)).text;
  /** Whether the token is good for Ada's account as it stands. */
  const accepts = async (options: Partial<AccessTokensOptions>, token: string, user = ADA) => {
    const tokens = tokensOf(options);
    const claims = await tokens.read(token);
    return claims !== null && claims.userId === user.id && tokens.isCurrent(claims, user);
  };

  let ed: KeyObject;
  let ec: KeyObject;
  let rsa: KeyObject;
  before(() => {
    ed = generateKeyPairSync('ed25519').privateKey;
    ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  });

  it('sign with their own algorithm and name the key in the token', async () => {
    for (const [key, algorithm] of [
      [ed, 'EdDSA'],
      [ec, 'ES256'],
      [rsa, 'RS256'],
    ] as const) {
      const keys = keysOf(key);
      const token = await issued({ keys });
      expect(headerOf(token)).to.deep.equal({ alg: algorithm, typ: 'JWT', kid: keys[0]?.kid });
      expect(decode(token.split('.')[1])).to.have.all.keys('sub', 'aud', 'pwd', 'exp', 'jti');
      expect(await accepts({ keys }, token), algorithm).to.equal(true);
      expect(await accepts({}, token), `${algorithm} without its key`).to.equal(false);
    }
  });

  it('publish the public halves of key pairs only', async () => {
    const keys = keysOf(ed, ec, rsa);
    const { publicKeys } = tokensOf({ keys });
    expect(publicKeys.map(({ kid, alg, use }) => [kid, alg, use])).to.deep.equal(
      keys.map(({ kid, algorithm }) => [kid, algorithm, 'sig']),
    );
    for (const jwk of publicKeys) expect(jwk).not.to.have.any.keys('d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth');
    const set = createLocalJWKSet({ keys: publicKeys as unknown as JWK[] });
    const { payload } = await jwtVerify(await issued({ keys }), set, {
      audience: 'fastapi-users:auth',
      currentDate: clock.now(),
    });
    expect(payload.sub).to.equal(ADA.id);
    expect(tokensOf().publicKeys).to.deep.equal([]);
  });

  it('accept tokens of the former key until it is removed', async () => {
    const former = keysOf(ed, ec);
    const between = keysOf(ec, ed);
    const after = keysOf(ec);
    const [early, late] = [await issued({ keys: former }), await issued({ keys: between })];
    // Replicas restart one after the other: whichever signed, whichever is asked.
    for (const keys of [former, between]) {
      for (const token of [early, late]) expect(await accepts({ keys }, token)).to.equal(true);
    }
    expect(await accepts({ keys: after }, early)).to.equal(false);
    expect(await accepts({ keys: after }, late)).to.equal(true);
  });

  it('accept password fingerprints of the former secret until it is removed', async () => {
    const steps = [
      { secret: SECRET, acceptedSecrets: [NEXT] },
      { secret: NEXT, acceptedSecrets: [SECRET] },
    ];
    for (const signing of [{ secret: SECRET }, ...steps]) {
      const token = await issued(signing);
      for (const asked of steps) expect(await accepts(asked, token)).to.equal(true);
      const changed = { ...ADA, passwordHash: '$argon2id$another' };
      for (const asked of steps) expect(await accepts(asked, token, changed)).to.equal(false);
    }
    expect(await accepts({ secret: NEXT }, await issued({ secret: SECRET }))).to.equal(false);
    const keys = keysOf(ed);
    const signed = await issued({ keys, secret: SECRET });
    expect(await accepts({ keys, secret: NEXT, acceptedSecrets: [SECRET] }, signed)).to.equal(true);
    expect(await accepts({ keys, secret: NEXT }, signed)).to.equal(false);
  });

  it('change from a secret to key pairs and back without ending a session', async () => {
    const keys = keysOf(ed);
    expect(await accepts({ keys }, await issued())).to.equal(true);
    expect(await accepts({ keys: keysOf(ec, ed) }, await issued({ keys }))).to.equal(true);
  });

  it('accept tokens without a key id that the secret signed', async () => {
    const [, payload = ''] = (await issued()).split('.');
    const old = (secret: string, head: object = { alg: 'HS256', typ: 'JWT' }) => {
      const signed = `${encode(head)}.${payload}`;
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    };
    expect(await accepts({}, old(SECRET))).to.equal(true);
    expect(await accepts({ keys: keysOf(ed) }, old(SECRET))).to.equal(true);
    expect(await accepts({ secret: NEXT, acceptedSecrets: [SECRET] }, old(SECRET))).to.equal(true);
    expect(await accepts({}, old('another secret'))).to.equal(false);
    expect(await accepts({}, old(SECRET, { alg: 'HS512', typ: 'JWT' }))).to.equal(false);
    const signed = `${encode({ alg: 'EdDSA' })}.${payload}`;
    const keyless = `${signed}.${sign(null, Buffer.from(signed), ed).toString('base64url')}`;
    expect(await accepts({ keys: keysOf(ed) }, keyless), 'a pair without its id').to.equal(false);
  });

  it('refuse tokens of another algorithm', async () => {
    const keys = keysOf(rsa, ed, ec);
    const good = await issued({ keys });
    const [, payload = '', signature = ''] = good.split('.');
    const [rsaKey, edKey] = keys;
    if (rsaKey === undefined || edKey === undefined) throw new Error('no keys');
    const secretKid = headerOf(await issued())['kid'];
    const hmac = (header: object, secret: string | Buffer, hash = 'sha256') => {
      const signed = `${encode(header)}.${payload}`;
      return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
    };
    const signedBy = (header: object, key: KeyObject, hash: string | null = null) => {
      const signed = `${encode(header)}.${payload}`;
      return `${signed}.${sign(hash, Buffer.from(signed), key).toString('base64url')}`;
    };
    const publicPem = String(rsaKey.publicKey.export({ format: 'pem', type: 'spki' }));
    const publicDer = rsaKey.publicKey.export({ format: 'der', type: 'spki' });
    const own = generateKeyPairSync('ed25519');
    const jwk = own.publicKey.export({ format: 'jwk' });
    const forged: Readonly<Record<string, string>> = {
      'public key as an HMAC secret, PEM': hmac({ alg: 'HS256', kid: rsaKey.kid }, publicPem),
      'public key as an HMAC secret, DER': hmac({ alg: 'HS256', kid: rsaKey.kid }, publicDer),
      'public key as an HMAC secret, x of Ed25519': hmac(
        { alg: 'HS256', kid: edKey.kid },
        Buffer.from(edKey.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'),
      ),
      'public key as an HMAC secret, without a key id': hmac({ alg: 'HS256' }, publicPem),
      'the secret under the id of a pair': hmac({ alg: 'HS256', kid: rsaKey.kid }, SECRET),
      'a pair under the id of the secret': signedBy({ alg: 'EdDSA', kid: secretKid }, ed),
      'a pair under the id of another pair': signedBy({ alg: 'EdDSA', kid: rsaKey.kid }, ed),
      'another hash with the right key': signedBy({ alg: 'RS512', kid: rsaKey.kid }, rsa, 'sha512'),
      'another hash with the right secret': hmac({ alg: 'HS512', kid: secretKid }, SECRET, 'sha512'),
      'no algorithm': `${encode({ alg: 'none', kid: rsaKey.kid })}.${payload}.`,
      'no algorithm and no key id': `${encode({ alg: 'none' })}.${payload}.`,
      'no algorithm, in other letters': `${encode({ alg: 'nOnE', kid: secretKid })}.${payload}.${signature}`,
      'a key that the token brings along': signedBy({ alg: 'EdDSA', kid: edKey.kid, jwk }, own.privateKey),
      'an unknown key id': signedBy({ alg: 'EdDSA', kid: 'unknown' }, ed),
      'a key id of another type': hmac({ alg: 'HS256', kid: [secretKid] }, SECRET),
      'a critical extension': hmac({ alg: 'HS256', kid: secretKid, crit: ['exp'] }, SECRET),
      'no header': `.${payload}.${signature}`,
      'a header that is no object': `${encode(null)}.${payload}.${signature}`,
    };
    for (const [what, token] of Object.entries(forged)) expect(await accepts({ keys }, token), what).to.equal(false);
    expect(await accepts({ keys }, good)).to.equal(true);
    expect(await accepts({ keys }, hmac({ alg: 'HS256', kid: secretKid }, SECRET))).to.equal(true);
  });

  it('refuse expired tokens and those of another audience', async () => {
    const keys = keysOf(ec);
    const token = await issued({ keys });
    const [header = '', payload] = token.split('.');
    const signed = (changes: object) => {
      const text = `${header}.${encode({ ...decode(payload), ...changes })}`;
      return `${text}.${sign('sha256', Buffer.from(text), { key: ec, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
    };
    expect(await accepts({ keys }, signed({}))).to.equal(true);
    for (const aud of ['fastapi-users:reset', ['fastapi-users:verify'], 'engram-bus', undefined]) {
      expect(await accepts({ keys }, signed({ aud })), String(aud)).to.equal(false);
    }
    clock.advance(3_599_000);
    expect(await accepts({ keys }, token)).to.equal(true);
    clock.advance(2000);
    expect(await accepts({ keys }, token)).to.equal(false);
  });
});
