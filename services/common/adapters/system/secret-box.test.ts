import { expect } from 'chai';
import { createSecretBox } from './secret-box.ts';

describe('secret box', () => {
  const old = 'the old root secret, long enough';
  const fresh = 'the new root secret, long enough';
  const box = createSecretBox({ rootKeys: { old }, activeKeyId: 'old' });

  it('opens what it sealed, and shows nothing of it', () => {
    for (const plain of ['', 'sk-123456', 'pässwörd 😀'.repeat(1000)]) {
      const sealed = box.seal(plain, 'connection/1');
      expect(box.open(sealed, 'connection/1')).to.equal(plain);
      if (plain !== '') expect(sealed).to.not.contain(plain);
    }
    expect(box.seal('same', 'x')).to.not.equal(box.seal('same', 'x'));
  });

  it('opens nothing that was changed, cut or sealed for another context', () => {
    const sealed = box.seal('secret', 'connection/1');
    expect(() => box.open(sealed, 'connection/2')).to.throw();
    for (let index = 0; index < sealed.length; index += 1) {
      const swapped = sealed[index] === 'A' ? 'B' : 'A';
      // The last character holds unused bits of the base64 text.
      if (index < sealed.length - 1) {
        expect(() => box.open(sealed.slice(0, index) + swapped + sealed.slice(index + 1), 'connection/1')).to.throw();
      }
    }
    for (const broken of ['', '1', '1.old', '1.old.AAAA', sealed.slice(0, -8)]) {
      expect(() => box.open(broken, 'connection/1')).to.throw();
    }
  });

  it('opens old boxes after a rotation, and new ones not without the new key', () => {
    const sealed = box.seal('secret', 'c');
    const rotated = createSecretBox({ rootKeys: { old, fresh }, activeKeyId: 'fresh' });
    expect(rotated.open(sealed, 'c')).to.equal('secret');
    expect(() => box.open(rotated.seal('secret', 'c'), 'c')).to.throw('unknown format or key');
    const renamed = createSecretBox({ rootKeys: { old: fresh }, activeKeyId: 'old' });
    expect(() => renamed.open(sealed, 'c')).to.throw();
  });

  it('refuses weak or missing root keys', () => {
    expect(() => createSecretBox({ rootKeys: { a: 'short' }, activeKeyId: 'a' })).to.throw('shorter');
    expect(() => createSecretBox({ rootKeys: { a: old }, activeKeyId: 'b' })).to.throw('active');
    expect(() => createSecretBox({ rootKeys: { 'a.b': old }, activeKeyId: 'a.b' })).to.throw('key id');
  });
});
