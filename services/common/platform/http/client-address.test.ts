import { expect } from 'chai';
import { createClientAddress } from './client-address.ts';

/** Of a request from this peer with this `X-Forwarded-For`. */
function addressOf(trusted: readonly string[], peer: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const request = { socket: { remoteAddress: peer }, headers };
  return createClientAddress(trusted)(request as unknown as Parameters<ReturnType<typeof createClientAddress>>[0]);
}

describe('client address', () => {
  const PROXIES = ['10.0.0.0/8', 'fd00::/8', '192.0.2.1'];

  it('is the one of the socket, whatever a header says, unless proxies are trusted', () => {
    expect(addressOf([], '203.0.113.9', '198.51.100.1')).to.equal('203.0.113.9');
    expect(addressOf([], '::ffff:203.0.113.9')).to.equal('203.0.113.9');
    expect(addressOf(PROXIES, '203.0.113.9', '198.51.100.1')).to.equal('203.0.113.9');
  });

  it('is the last one that is no proxy of ours: what stands before it was made up by the client', () => {
    expect(addressOf(PROXIES, '10.1.2.3', '198.51.100.1')).to.equal('198.51.100.1');
    expect(addressOf(PROXIES, '::ffff:10.1.2.3', '1.1.1.1, 198.51.100.1 , 192.0.2.1,10.9.9.9')).to.equal(
      '198.51.100.1',
    );
    expect(addressOf(PROXIES, 'fd00::7', '1.1.1.1, [2001:db8::5]:443')).to.equal('2001:db8::5');
    expect(addressOf(PROXIES, '192.0.2.1', '203.0.113.9:4711')).to.equal('203.0.113.9');
  });

  it('is the last proxy that can be believed where the header tells nothing', () => {
    expect(addressOf(PROXIES, '10.1.2.3')).to.equal('10.1.2.3');
    expect(addressOf(PROXIES, '10.1.2.3', '')).to.equal('10.1.2.3');
    expect(addressOf(PROXIES, '10.1.2.3', '198.51.100.1, unknown')).to.equal('10.1.2.3');
    expect(addressOf(PROXIES, '10.1.2.3', 'x, 10.0.0.1')).to.equal('10.0.0.1');
    expect(addressOf(PROXIES, '10.1.2.3', '10.0.0.2, 10.0.0.1')).to.equal('10.0.0.2');
  });
});
