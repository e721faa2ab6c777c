import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect } from 'chai';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import { loadConfig } from './load-config.ts';
import type { TokenKey } from './token-keys.ts';

const pem = (key: KeyObject): string =>
  String(key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' }));
const jwk = (key: KeyObject) => key.export({ format: 'jwk' });
interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const NAME = 'ENGRAM_JWT_SIGNING_KEYS';

function read(text: string): readonly TokenKey[] {
  return loadConfig({ [NAME]: text }).config.jwtSigningKeys ?? [];
}

function problemOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('expected a problem');
}

describe('signing keys of login tokens', () => {
  let ed: KeyPair;
  let ec: KeyPair;
  let rsa: KeyPair;
  let all: readonly KeyObject[];
  before(() => {
    ed = generateKeyPairSync('ed25519');
    ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    all = [ed, ec, rsa].map(({ privateKey }) => privateKey);
  });

  it('are read from PEM blocks, with line ends as a shell passes them, and from JSON Web Keys', async () => {
    const texts = [
      all.map(pem).join(''),
      all.map(pem).join('\n').replaceAll('\n', String.raw`\n`),
      JSON.stringify(all.map(jwk)),
      JSON.stringify({ keys: all.map(jwk) }),
    ];
    const kids = await Promise.all(
      [ed, ec, rsa].map(async (pair) => calculateJwkThumbprint(await exportJWK(pair.publicKey))),
    );
    for (const text of texts) {
      const keys = read(text);
      expect(keys.map(({ algorithm }) => algorithm)).to.deep.equal(['EdDSA', 'ES256', 'RS256']);
      expect(keys.map(({ kid }) => kid)).to.deep.equal(kids);
    }
    expect(read(JSON.stringify({ ...jwk(ed.privateKey), kid: 'mine', alg: 'EdDSA' }))[0]).to.include({ kid: 'mine' });
    const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
    expect(read(parameters + pem(ec.privateKey))).to.have.length(1);
  });

  it('may be public halves after the first, which then only verify', () => {
    const [first, second] = read(pem(ed.privateKey) + pem(ec.publicKey));
    expect(first?.privateKey).not.to.equal(null);
    expect(second).to.include({ algorithm: 'ES256', privateKey: null });
    expect(problemOf(pem(ed.publicKey))).to.include('must begin with a private key');
    expect(problemOf(JSON.stringify(jwk(ed.publicKey)))).to.include('must begin with a private key');
  });

  it('are refused when they cannot be used, without a word of what they hold', () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
    const otherCurve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
    const encrypted = ed.privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' });
    const cases: Readonly<Record<string, string>> = {
      [pem(weak)]: 'RSA keys of at least 2048 bits',
      [pem(otherCurve)]: 'must hold Ed25519, P-256 or RSA',
      [String(encrypted)]: 'must be PEM blocks or JSON Web Keys',
      [`${pem(ed.privateKey)}c2VjcmV0`]: 'must be PEM blocks or JSON Web Keys',
      [pem(ed.privateKey).replaceAll('PRIVATE', 'PUBLIC')]: 'must be PEM blocks or JSON Web Keys',
      [JSON.stringify({ kty: 'oct', k: 'c2VjcmV0' })]: 'holds a symmetric key',
      [JSON.stringify({ ...jwk(ed.privateKey), alg: 'HS256' })]: 'holds a key for another algorithm',
      [JSON.stringify([jwk(ed.privateKey), jwk(ed.publicKey)])]: 'holds a key id twice',
      '{"kty": "OKP", "c2VjcmV0"': 'must be PEM blocks or JSON Web Keys',
      '[]': 'holds no key',
      '{}': 'must be PEM blocks or JSON Web Keys',
      '[null]': 'must be PEM blocks or JSON Web Keys',
      c2VjcmV0: 'must be PEM blocks or JSON Web Keys',
    };
    for (const [text, problem] of Object.entries(cases)) {
      const message = problemOf(text);
      expect(message, text.slice(0, 40)).to.include(`${NAME}: the value ${problem}`.slice(0, 30)).and.include(problem);
      expect(message).not.to.include('c2VjcmV0');
    }
  });
});

describe('accepted secrets and trusted proxies', () => {
  it('are lists; a secret with a comma needs JSON', () => {
    const secrets = (text: string) => loadConfig({ ENGRAM_JWT_ACCEPTED_SECRETS: text }).config.jwtAcceptedSecrets;
    expect(secrets('first-secret, second-secret')).to.deep.equal(['first-secret', 'second-secret']);
    expect(secrets('["one, two, three", "second-secret"]')).to.deep.equal(['one, two, three', 'second-secret']);
    for (const wrong of ['short', 'first-secret,short', '["first-secret", 5]', '["first-secret"', '[]', ',']) {
      expect(() => secrets(wrong), wrong).to.throw('ENGRAM_JWT_ACCEPTED_SECRETS: the value must be a comma list');
    }
    const proxies = (text: string) => loadConfig({ ENGRAM_TRUSTED_PROXIES: text }).config.trustedProxies;
    expect(proxies('')).to.deep.equal([]);
    expect(proxies('10.0.0.0/8, 192.0.2.1, fd00::/8')).to.deep.equal(['10.0.0.0/8', '192.0.2.1', 'fd00::/8']);
    for (const wrong of ['10.0.0.0/33', '10.0.0/8', 'proxy', '10.0.0.0/8/8', 'fd00::/129', '10.0.0.0/', '10.0.0.0/x']) {
      expect(() => proxies(wrong), wrong).to.throw('ENGRAM_TRUSTED_PROXIES');
    }
  });
});
