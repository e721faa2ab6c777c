import { hash as bcryptHash } from 'bcryptjs';
import { expect } from 'chai';
import { threadCpuTimeMs } from '../../../test/support/cpu-time.ts';
import { createPasswordHasher } from './password-hasher.ts';

describe('password hasher', () => {
  const hasher = createPasswordHasher();
  after(() => hasher.close());

  it('writes a PHC string with its cost and verifies against it', async () => {
    const phc = await hasher.hash('naïve ✓ password');
    expect(phc).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await hasher.verify('naïve ✓ password', phc)).to.equal(true);
    expect(await hasher.verify('naive ✓ password', phc)).to.equal(false);
    expect(await hasher.hash('naïve ✓ password')).not.to.equal(phc);
  });

  it('reads a hash of another cost that the Argon2 reference code made', async () => {
    // test.c of P-H-C/phc-winner-argon2: argon2id, t=2, m=2^16, p=1, "password", "somesalt"
    const phc = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await hasher.verify('password', phc)).to.equal(true);
    expect(await hasher.verify('Password', phc)).to.equal(false);
  });

  it('refuses hashes that it cannot parse or that cost too much', async () => {
    for (const phc of [
      '!',
      '',
      '$2b$12$abcdefghijklmnopqrstuv',
      '$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$1kx2tUfhn3D7MZQPaB44mjsAMUGmdSmz',
      '$argon2id$v=19$m=64,t=9999,p=1$c29tZXNhbHQ$1kx2tUfhn3D7MZQPaB44mjsAMUGmdSmz',
      '$argon2id$v=19$m=4,t=1,p=1$c29tZXNhbHQ$1kx2tUfhn3D7MZQPaB44mjsAMUGmdSmz',
    ]) {
      expect(await hasher.verify('password', phc), phc).to.equal(false);
    }
  });

  it('verifies bcrypt hashes of all prefixes', async () => {
    // From the test vectors of Openwall's crypt_blowfish, and PHP's password_hash ($2y$).
    const vectors = {
      'U*U': '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
      'U*U*U': '$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a',
      rasmuslerdorf: '$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq',
    };
    for (const [password, hash] of Object.entries(vectors)) {
      expect(await hasher.verify(password, hash), hash).to.equal(true);
      expect(await hasher.verify(`${password}!`, hash), hash).to.equal(false);
      expect(await hasher.verify(password, hash.replace(/^\$2[ay]/, '$2b')), hash).to.equal(true);
    }
    const unicode = await bcryptHash('naïve ✓ password', 4);
    expect(await hasher.verify('naïve ✓ password', unicode)).to.equal(true);
    for (const broken of [
      unicode.replace('$04$', '$15$'),
      unicode.replace('$04$', '$31$'),
      unicode.replace('$04$', '$03$'),
      unicode.replace('$2b', '$2x'),
      unicode.slice(0, -1),
      `${unicode}a`,
    ]) {
      expect(await hasher.verify('naïve ✓ password', broken), broken).to.equal(false);
    }
  });

  it('does not block its thread while it computes bcrypt', async () => {
    const hash = await bcryptHash('password', 4);
    await hasher.verify('password', hash); // its thread is up
    const expensive = '$2b$11$1bcZM7wlh8NfsoF6LZRSG.2GECl/RDuEHfjIwDMAIWiU.9jNG5lEq';
    const atHome = threadCpuTimeMs();
    await bcryptHash('password', 11);
    const here = threadCpuTimeMs() - atHome;
    const before = threadCpuTimeMs();
    await hasher.verify('password', expensive);
    expect(threadCpuTimeMs() - before).to.be.lessThan(here / 2);
  });

  it('reports a hash as outdated when it differs from new ones in kind or cost', async () => {
    const own = await hasher.hash('password');
    expect(hasher.isOutdated(own, 'password')).to.equal(false);
    for (const other of [
      own.replace('m=19456', 'm=65536'),
      own.replace('t=2', 't=3'),
      own.replace('p=1', 'p=4'),
      '$2b$11$1bcZM7wlh8NfsoF6LZRSG.2GECl/RDuEHfjIwDMAIWiU.9jNG5lEq',
    ]) {
      expect(hasher.isOutdated(other, 'password'), other).to.equal(true);
    }
  });

  it('does not replace the bcrypt hash of a password of which bcrypt ignored a part', async () => {
    const long = 'x'.repeat(80);
    const hash = await bcryptHash(long, 4);
    expect(await hasher.verify(`${long} with a slip`, hash)).to.equal(true);
    expect(hasher.isOutdated(hash, `${long} with a slip`)).to.equal(false);
    expect(hasher.isOutdated(hash, 'x'.repeat(72))).to.equal(true);
  });

  it('verifies passwords while many new ones wait for their hash', async () => {
    const stored = await hasher.hash('password');
    let made = 0;
    const waiting = Array.from({ length: 12 }, () => hasher.hash('another').then(() => (made += 1)));
    expect(await hasher.verify('password', stored)).to.equal(true);
    expect(made).to.be.lessThan(8);
    await Promise.all(waiting);
  });

  it('refuses work when too much of it waits', async () => {
    const small = createPasswordHasher({ concurrency: 1, maxWaiting: 1 });
    const results = await Promise.allSettled([1, 2, 3].map(() => small.hash('password')));
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected']);
    expect(await small.hash('password')).to.be.a('string');
  });
});
