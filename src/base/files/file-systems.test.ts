import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { farFileSystem, farFolder } from './file-systems.ts';

/** Numbers of the kernel's list of file systems, as `statfs` gives them. */
const NEAR: Readonly<Record<string, bigint>> = {
  'ext2, ext3 and ext4': 0xef53n,
  xfs: 0x58465342n,
  btrfs: 0x9123683en,
  zfs: 0x2fc12fc1n,
  f2fs: 0xf2f52010n,
  tmpfs: 0x01021994n,
  overlayfs: 0x794c7630n,
  ecryptfs: 0xf15fn,
  vfat: 0x4d44n,
  exfat: 0x2011bab0n,
  'ntfs of the kernel': 0x5346544en,
  bcachefs: 0xca451a4en,
};

const FAR: Readonly<Record<string, bigint>> = {
  nfs: 0x6969n,
  smbfs: 0x517bn,
  cifs: 0xff534d42n,
  smb2: 0xfe534d42n,
  '9p, the Windows disks in WSL': 0x01021997n,
  'fuse, so sshfs and the shares of desktops': 0x65735546n,
  ceph: 0x00c36400n,
  openafs: 0x5346414fn,
  lustre: 0x0bd00bd0n,
  vboxsf: 0x786f4256n,
};

describe('far file systems', () => {
  it.each(Object.entries(FAR))('%s is far', (_, type) => expect(farFileSystem(type)).toBeTruthy());
  it.each(Object.entries(NEAR))('%s is near', (_, type) => expect(farFileSystem(type)).toBeUndefined());

  it('are known by numbers with a sign too', () => {
    expect(farFileSystem(BigInt.asIntN(32, 0xff534d42n))).toBe('CIFS');
    expect(farFileSystem(BigInt.asUintN(64, BigInt.asIntN(32, 0xfe534d42n)))).toBe('SMB 2');
  });

  it('are asked for by folder; a path to another machine is one, what cannot be asked is none', async () => {
    expect(await farFolder('\\\\server\\share\\project')).toBe('SMB');
    expect(await farFolder(tmpdir())).toBeUndefined();
    expect(await farFolder('/nowhere/at/all')).toBeUndefined();
  });
});
