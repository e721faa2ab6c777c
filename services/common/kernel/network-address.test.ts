import { expect } from 'chai';
import { networkOf, plainAddress } from './network-address.ts';

describe('network addresses', () => {
  it('are read in every form in which proxies write them', () => {
    const forms = {
      '192.0.2.1': '192.0.2.1',
      ' 192.0.2.1:4711': '192.0.2.1',
      '::ffff:192.0.2.1': '192.0.2.1',
      '[2001:DB8::1]:443': '2001:db8::1',
      '[2001:db8::1]': '2001:db8::1',
      'fe80::1%eth0': 'fe80::1',
      unknown: 'unknown',
      '': '',
    };
    for (const [text, address] of Object.entries(forms)) expect(plainAddress(text), text).to.equal(address);
  });

  it('count as one where one party has them all: the first half of IPv6, single addresses of IPv4', () => {
    expect(networkOf('192.0.2.1')).not.to.equal(networkOf('192.0.2.2'));
    expect(networkOf('::ffff:192.0.2.1')).to.equal(networkOf('192.0.2.1'));
    const one = networkOf('2001:db8:0:7::1');
    for (const same of ['2001:db8:0:7:ffff:1:2:3', '2001:0DB8::7:0:0:0:9', '2001:db8:0:7::192.0.2.1']) {
      expect(networkOf(same), same).to.equal(one);
    }
    for (const other of ['2001:db8:0:8::1', '2001:db8::1', '::1', ''])
      expect(networkOf(other), other).not.to.equal(one);
  });
});
