import { expect } from 'chai';
import { createPasswordHasher } from './password-hasher.ts';

describe('password hasher', () => {
  const hasher = createPasswordHasher();

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

  it('refuses what it cannot read and what would cost too much', async () => {
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

  it('turns work away when too much of it waits', async () => {
    const small = createPasswordHasher({ concurrency: 1, maxWaiting: 1 });
    const results = await Promise.allSettled([1, 2, 3].map(() => small.hash('password')));
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected']);
    expect(await small.hash('password')).to.be.a('string');
  });
});
