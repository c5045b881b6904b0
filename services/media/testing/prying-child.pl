#!/usr/bin/perl
# Stands for the code of a file that took over its parser: native code that tries to reach a secret of the process that
# started it. It prints one line for each thing that it reached. Arguments: the secret, the process, a TCP port, a UDP
# port, a Unix socket, and files.
use strict;
use warnings;
use Socket;

my ($secret, $parent, $tcp, $udp, $unix, @files) = @ARGV;
# attaches without stopping the process
my $SEIZE = 0x4206;
my ($VM_READV, $PTRACE) = `uname -m` =~ /aarch64/ ? (270, 117) : (310, 101);

sub content {
    my ($path) = @_;
    open(my $file, '<', $path) or return;
    local $/;
    return scalar <$file>;
}
sub reached { print "$_[0]\n" }
sub holds { my ($text) = @_; return defined $text && index($text, $secret) >= 0 }

reached('own environment') if grep { index($ENV{$_}, $secret) >= 0 } keys %ENV;
for my $process ($parent, 1, getppid()) {
    reached('environment of a process') if holds(content("/proc/$process/environ"));
}
reached('list of processes') if opendir(my $proc, '/proc');
reached("file $_") for grep { defined content($_) } @files;
reached("names in $_") for grep { opendir(my $names, $_) } @files;
reached("rights of $_") for grep { chmod(0644, $_) } @files;
reached('descriptor') if grep { open(my $kept, '<&=', $_) } 3 .. 255;
if (open(my $maps, '<', "/proc/$parent/maps") and open(my $memory, '<', "/proc/$parent/mem")) {
    while (<$maps>) {
        next unless /^([0-9a-f]+)-([0-9a-f]+) rw/;
        no warnings 'portable';
        my ($from, $to) = (hex $1, hex $2);
        next if $to - $from > 256 * 1024 * 1024;
        next unless sysseek($memory, $from, 0) and sysread($memory, my $bytes, $to - $from);
        if (holds($bytes)) { reached('memory of the process'); last }
    }
}
my $into = "\0" x 8;
my $local = pack('P Q', $into, 8);
my $remote = pack('Q Q', 0x400000, 8);
reached('memory of the process by system call') if syscall($VM_READV, $parent + 0, $local, 1, $remote, 1, 0) > 0;
reached('control of the process') if syscall($PTRACE, $SEIZE, $parent + 0, 0, 0) == 0;
reached('signal to the process') if kill(0, $parent);
my ($stream, $packets, $named);
socket($stream, PF_INET, SOCK_STREAM, 0)
    and connect($stream, pack_sockaddr_in($tcp, inet_aton('127.0.0.1')))
    and reached('tcp');
socket($packets, PF_INET, SOCK_DGRAM, 0)
    and send($packets, 'x', 0, pack_sockaddr_in($udp, inet_aton('127.0.0.1')))
    and reached('udp');
socket($named, PF_UNIX, SOCK_STREAM, 0) and connect($named, pack_sockaddr_un($unix)) and reached('unix socket');
print "done\n";
