// Which IP addresses belong to the public internet; the rest is not for strangers to reach through a server.
import { BlockList, isIP } from 'node:net';

/** Networks of RFC 6890 and its successors: own host, private, link-local, shared, documentation, multicast, reserved. */
const reservedV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/** Of IPv6 only 2000::/3 is handed out; these parts of it are tunnels to IPv4, documentation or benchmarks. */
const reservedV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

/** Whether `address` (without brackets) is a public unicast address; false for anything that is no IP address. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '');
  const family = isIP(plain);
  const blocked = new BlockList();
  if (family === 4) {
    for (const [network, bits] of reservedV4) blocked.addSubnet(network, bits, 'ipv4');
    return !blocked.check(plain, 'ipv4');
  }
  if (family !== 6) return false;
  for (const [network, bits] of reservedV6) blocked.addSubnet(network, bits, 'ipv6');
  const handedOut = new BlockList();
  handedOut.addSubnet('2000::', 3, 'ipv6');
  return handedOut.check(plain, 'ipv6') && !blocked.check(plain, 'ipv6');
}
