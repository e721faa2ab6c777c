import { expect } from 'chai';
import { ConfigurationError, loadConfig } from './load-config.ts';
import { decidePosture, isLoopback } from './posture.ts';

function postureOf(accessControl: string | undefined, requireAuthentication: string | undefined, host = '0.0.0.0') {
  return loadConfig({
    ENABLE_BACKEND_ACCESS_CONTROL: accessControl,
    REQUIRE_AUTHENTICATION: requireAuthentication,
    HTTP_API_HOST: host,
  }).config.posture;
}

describe('decidePosture', () => {
  it('follows the table of the contract when a variable is set', () => {
    expect(postureOf('true', undefined)).to.deep.include({
      required: true,
      reason: 'inherited from ENABLE_BACKEND_ACCESS_CONTROL',
    });
    expect(postureOf('True', 'false')).to.deep.include({
      required: true,
      reason: 'forced on by multi-tenant mode (REQUIRE_AUTHENTICATION=false was ignored)',
    });
    expect(postureOf('false', undefined)).to.deep.include({ required: false, openByDefault: false });
    expect(postureOf('false', 'TRUE')).to.deep.include({ required: true, reason: 'explicit REQUIRE_AUTHENTICATION' });
    expect(postureOf('false', 'false')).to.deep.include({ required: false, guarded: false });
    expect(postureOf(undefined, 'true', '127.0.0.1')).to.deep.include({ required: true, guarded: false });
  });

  it('takes the words of false as false, and an empty value as unset', () => {
    for (const word of ['False', '0', 'no', 'off']) expect(postureOf(word, undefined).required, word).to.equal(false);
    expect(postureOf('', '').required).to.equal(true);
  });

  it('refuses a word that somebody may have meant as true rather than open the server by it', () => {
    for (const word of ['1', 'yes', 'on', 'treu']) {
      const text = 'must be true or false; only the word true switches it on';
      expect(() => postureOf(word, undefined), word).to.throw(ConfigurationError, text);
      expect(() => postureOf(undefined, word, '127.0.0.1'), word).to.throw(ConfigurationError, text);
    }
  });

  it('is open by default on loopback alone', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '::1']) {
      expect(postureOf(undefined, undefined, host)).to.deep.equal({
        required: false,
        reason: 'default (no env vars set)',
        openByDefault: true,
        guarded: true,
      });
    }
    for (const host of ['0.0.0.0', '::', '192.168.1.2', 'engram.local', '1.127.0.1']) {
      expect(postureOf(undefined, undefined, host)).to.deep.include({ required: true, guarded: false });
    }
  });

  it('guards a loopback server that was opened by hand, but lets proxies through', () => {
    const posture = decidePosture({ accessControl: false, requireAuthentication: false, host: '127.0.0.1' });
    expect(posture).to.deep.include({ guarded: true, openByDefault: false });
  });

  it('knows bracketed IPv6 loopback and no look-alikes', () => {
    expect(isLoopback('[::1]')).to.equal(true);
    expect(isLoopback('127.0.0.1.example.com')).to.equal(false);
    expect(isLoopback('localhost.example.com')).to.equal(false);
  });
});
