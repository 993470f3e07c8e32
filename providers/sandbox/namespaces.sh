# Moves a program into the image. The programs that do it are the host's: util-linux, coreutils and a shell.
#
#   unshare --user --map-root-user --mount … sh -c "$(cat namespaces.sh)" namespaces IMAGE BYTES KEEPER…
#
# This shell is root of a new user namespace, U1 (outside: an ordinary user), with mount, net, ipc, uts and cgroup namespaces of its own.
#
#   builder   a child of this shell: leaves the host's tree. It is outside the build's process namespace, and ends before the build begins.
#   keeper    replaces this shell: makes the process namespace, and ends with it.
#   build     process 1 of that namespace. It entered a user namespace below U1 as a user that is not root, so the next program it
#             executed took all its capabilities; over U1, which owns the mounts, it had none. It waits for the builder's word.
#
# The image has no program that could leave the host's tree, so the builder does it: pivot_root moves each process of the mount
# namespace whose root is the old one. The builder's own root is a copy of the old tree, where the host's programs still are; it detaches
# the copy, and with it the old tree that was put into the copy. Then no path leads to the host, and the build may begin.
set -eu
image=$1 bytes=$2
shift 2
copy=$image/opt/frontage/site

mount --bind "$image" "$image"
cd "$image"
mount -o remount,bind,ro,nosuid,nodev "$image"
mount -t tmpfs -o "mode=0700,nosuid,nodev,noexec,nr_inodes=400000,size=$((bytes / 2))" tmpfs "$image/tmp"
mount -t tmpfs -o "mode=0700,nosuid,nodev,noexec,nr_inodes=400000,size=$bytes" tmpfs "$image/opt/frontage/site"
mount -t tmpfs -o mode=0755,nosuid,noexec,nr_inodes=32,size=64k tmpfs "$image/dev"
for device in null zero full random urandom; do
  : > "$image/dev/$device"
  mount --bind "/dev/$device" "$image/dev/$device"
done
ln -s /proc/self/fd "$image/dev/fd"
mount -o remount,bind,ro,nosuid,noexec "$image/dev"
# A build needs neither, and util-linux has neither.
hostname build 2> /dev/null || true
ip link set lo up 2> /dev/null || true

# Each of builder and build reads what the other writes, and ends if the other has ended. Opening both ways does not wait.
mkfifo "$image/tmp/waiting" "$image/tmp/begin" "$image/tmp/moved"
exec 8<> "$image/tmp/waiting" 9<> "$image/tmp/begin"
exec 4< "$image/tmp/waiting" 5> "$image/tmp/waiting" 6< "$image/tmp/begin" 7> "$image/tmp/begin"
exec 8<> "$image/tmp/moved" 9<&-
rm "$image/tmp/waiting" "$image/tmp/begin" "$image/tmp/moved"

(
  read -r waiting <&4
  echo deny > "$image/proc/1/setgroups"
  echo '10001 0 1' > "$image/proc/1/gid_map"
  echo '10001 0 1' > "$image/proc/1/uid_map"
  mount --rbind / "$copy"
  chroot "$copy" sh -euc '
    echo ready
    read -r moved <&8
    [ "$moved" = moved ]
    umount -l /
    echo begin >&7
  ' | {
    read -r ready && pivot_root "$image" "$copy/tmp" && echo moved >&8 || echo failed >&8
  }
) < /dev/null > /dev/null 3<&- 5>&- 6<&- &

exec "$@" 4<&- 7>&- 8<&-
