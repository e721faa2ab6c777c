import { generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { ADA } from '../../../../test/support/ada.ts';
import { rejection } from '../../../../test/support/refusal-of.ts';
import { unsignedPrincipals } from '../../../../test/support/unsigned-principals.ts';
import type { Principal } from '../../kernel/principal.ts';
import { createInProcessBus } from '../../storage/bus/in-process/bus.ts';
import { createIdentify } from './identify.ts';
import { callerOf, createMessenger, createSignedMessenger, type Messenger } from './messenger.ts';
import { fixedProof } from './principal-proof.ts';
import { createPrincipalSigner, createPrincipalVerifier, type PrincipalSigner } from './principal-tokens.ts';

const SECRET = 'a secret of tests, long enough';

function handClock() {
  let ms = Date.parse('2026-01-02T03:04:05.678Z');
  const advance = (step: number): void => {
    ms += step;
  };
  return { now: () => new Date(ms), monotonicMs: () => ms, advance };
}

describe('principal tokens', () => {
  let clock: ReturnType<typeof handClock>;
  let signer: PrincipalSigner;
  beforeEach(() => {
    clock = handClock();
    signer = createPrincipalSigner(SECRET, clock);
  });
  const verifierOf = (...keys: readonly string[]) => createPrincipalVerifier({ keys: async () => keys, clock });

  it('bring back who was signed, the same for all who share the secret', async () => {
    const verifier = verifierOf(...createPrincipalSigner(SECRET, clock).publicKeys);
    expect(await verifier.verify(signer.sign(ADA))).to.deep.equal(ADA);
    const admin = { ...ADA, isSuperuser: true, parentId: ADA.id };
    expect(await verifier.verify(signer.sign(admin))).to.deep.equal(admin);
  });

  it('end after a minute, and a little for clocks that differ', async () => {
    const verifier = verifierOf(...signer.publicKeys);
    const token = signer.sign(ADA);
    clock.advance(69_000);
    await verifier.verify(token);
    clock.advance(2000);
    expect(await rejection(verifier.verify(token))).to.include({ status: 503, retryable: true });
    expect((await rejection(verifier.verify(token))).message).to.include('ended');
    const early = createPrincipalSigner(SECRET, { now: () => new Date(clock.now().getTime() + 60_000) });
    expect((await rejection(verifier.verify(early.sign(ADA)))).message).to.include('begins in the future');
  });

  it('that somebody else made are refused', async () => {
    const verifier = verifierOf(...signer.publicKeys);
    const token = signer.sign(ADA);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...claims, isSuperuser: true })).toString('base64url');
    const otherKey = generateKeyPairSync('ed25519').privateKey;
    const forged = sign(null, Buffer.from(`${header}.${payload}`), otherKey).toString('base64url');
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'engram-principal+jwt' })).toString('base64url');
    const kidless = Buffer.from(JSON.stringify({ alg: 'EdDSA', kid: 1, typ: 'engram-principal+jwt' })).toString(
      'base64url',
    );
    const attempts = [
      ...[
        '',
        'x',
        'x.y.z',
        'null',
        JSON.stringify(ADA),
        `${token}.more`,
        `${header}.${payload}`,
        `${header}.${payload}.`,
      ],
      ...[`${header}.${changed}.${signature}`, `${header}.${payload}.${forged}`, `${none}.${payload}.`],
      ...[`${kidless}.${payload}.${signature}`, createPrincipalSigner('another secret', clock).sign(ADA)],
    ];
    for (const attempt of attempts) {
      const error = await rejection(verifier.verify(attempt));
      expect(error, attempt).to.include({ wireName: 'PermissionDeniedError', status: 403 });
    }
    expect(await verifier.verify(token)).to.deep.equal(ADA);
  });

  it('are believed after a change of keys, of which auth is asked at most once a second', async () => {
    let keys = signer.publicKeys;
    let asked = 0;
    const verifier = createPrincipalVerifier({
      keys: async () => {
        asked += 1;
        return keys;
      },
      clock,
    });
    await verifier.verify(signer.sign(ADA));
    const next = createPrincipalSigner('the next secret', clock);
    for (let attempt = 0; attempt < 5; attempt += 1) await rejection(verifier.verify(next.sign(ADA)));
    expect(asked).to.equal(1);
    keys = [...next.publicKeys, ...keys];
    clock.advance(1000);
    expect(await verifier.verify(next.sign(ADA))).to.deep.equal(ADA);
    expect(asked).to.equal(2);
  });

  it('are believed while auth changes its secret, whichever replica signs and whichever is asked for keys', async () => {
    const [former, next] = ['the former secret', 'the next secret'] as const;
    const steps = [
      [former, []],
      [former, [next]],
      [next, [former]],
      [next, []],
    ] as const;
    for (const [index, [secret, accepted]] of steps.slice(1).entries()) {
      const [secretBefore, acceptedBefore] = steps[index] ?? steps[0];
      // Replicas restart one after the other: those of this step and those of the step before answer side by side.
      const replicas = [
        createPrincipalSigner(secretBefore, clock, acceptedBefore),
        createPrincipalSigner(secret, clock, accepted),
      ];
      for (const signing of replicas) {
        for (const asked of replicas) {
          expect(await verifierOf(...asked.publicKeys).verify(signing.sign(ADA))).to.deep.equal(ADA);
        }
      }
    }
    const [first, last] = [createPrincipalSigner(former, clock), createPrincipalSigner(next, clock)];
    expect(await rejection(verifierOf(...last.publicKeys).verify(first.sign(ADA)))).to.include({ status: 403 });
  });

  it('fail as auth fails when its keys cannot be had, and are believed once they can', async () => {
    let isAway = true;
    const keys = async () => {
      if (isAway) throw new Error('away');
      return signer.publicKeys;
    };
    const verifier = createPrincipalVerifier({ keys, clock });
    const token = signer.sign(ADA);
    expect((await rejection(verifier.verify(token))).message).to.equal('away');
    isAway = false;
    expect(await verifier.verify(token)).to.deep.equal(ADA);
  });
});

describe('messages with a principal', () => {
  let clock: ReturnType<typeof handClock>;
  let messenger: Messenger;
  let bus: ReturnType<typeof createInProcessBus>;
  let isKnown: boolean;
  const seen: Principal[] = [];
  beforeEach(async () => {
    clock = handClock();
    bus = createInProcessBus();
    messenger = createSignedMessenger(bus, clock);
    isKnown = true;
    seen.length = 0;
    const signer = createPrincipalSigner(SECRET, clock);
    await messenger.serve('auth.GetPublicKeys', async () => ({ jwks: signer.publicKeys }));
    await messenger.serve('auth.Authenticate', async () => ({
      ...(isKnown ? { principal: ADA, token: signer.sign(ADA) } : { principal: null }),
      required: true,
      posture: '',
    }));
    await messenger.serve('auth.ResolveDatasets', async (_, context) => {
      seen.push(callerOf(context));
      return { datasets: [] };
    });
  });
  afterEach(() => bus.drain());
  const request = { permission: 'read' } as const;

  it('reach the handler as auth said, however long the request lasts', async () => {
    const { proof, principal } = await createIdentify(messenger, clock)([], true, { requestId: 'r' });
    if (proof === undefined || principal === null) throw new Error('nobody was identified');
    for (let minute = 0; minute < 3; minute += 1) {
      await messenger.call('auth.ResolveDatasets', request, { requestId: 'r', principal, proof });
      clock.advance(60_000);
    }
    expect(seen).to.deep.equal([ADA, ADA, ADA]);
    isKnown = false;
    const late = messenger.call('auth.ResolveDatasets', request, { requestId: 'r', principal, proof });
    expect(await rejection(late)).to.include({ status: 403 });
  });

  it('are refused without a proof, whatever they say', async () => {
    const mallory = { ...ADA, isSuperuser: true };
    const attempts = [
      messenger.call('auth.ResolveDatasets', request, { requestId: 'r', principal: mallory }),
      createMessenger(bus, unsignedPrincipals).call('auth.ResolveDatasets', request, {
        requestId: 'r',
        principal: mallory,
      }),
      messenger.call('auth.ResolveDatasets', request, { requestId: 'r', proof: fixedProof('forged') }),
    ];
    for (const attempt of attempts) expect(await rejection(attempt)).to.include({ status: 403 });
    expect(seen).to.deep.equal([]);
  });

  it('speak for whom the proof says, not for whom the caller says', async () => {
    const { proof } = await createIdentify(messenger, clock)([], true, { requestId: 'r' });
    if (proof === undefined) throw new Error('nobody was identified');
    const other = { ...ADA, isSuperuser: true };
    await messenger.call('auth.ResolveDatasets', request, { requestId: 'r', principal: other, proof });
    expect(seen).to.deep.equal([ADA]);
  });

  it('that cannot be read are one clear error', async () => {
    const error = await rejection(bus.request('engram.auth.Authenticate', Uint8Array.of(255), { deadlineMs: 1000 }));
    expect(error).to.include({
      wireName: 'CogneeSystemError',
      message: 'A message of engram.auth.Authenticate cannot be read.',
    });
  });
});
