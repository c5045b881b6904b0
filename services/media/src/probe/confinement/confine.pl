#!/usr/bin/perl
# Runs a program that can open only the named files, has no socket and reaches no other process:
#   confine.pl ARCHITECTURE [--read PATH | --write PATH | --run PATH]... -- PROGRAM [ARGUMENT]...
# The kernel holds this by Landlock, which needs no privilege and no namespace, and by a filter of system calls. Perl,
# because every Debian image has it, and it calls the kernel without a compiler. It ends with 125 if the kernel refuses.
use strict;
use warnings;

# The numbers of system calls that the program does not need: on x86-64 and on 64-bit ARM.
my %BLOCKED = (
    # sockets of every kind, and the rings that open them past this filter
    socket => [41, 198], socketpair => [53, 199], connect => [42, 203], bind => [49, 200], listen => [50, 201],
    accept => [43, 202], accept4 => [288, 242], io_uring_setup => [425, 425], io_uring_enter => [426, 426],
    io_uring_register => [427, 427],
    # memory, descriptors and signals of other processes
    ptrace => [101, 117], process_vm_readv => [310, 270], process_vm_writev => [311, 271], kcmp => [312, 272],
    pidfd_open => [434, 434], pidfd_getfd => [438, 438], pidfd_send_signal => [424, 424],
    process_madvise => [440, 440], tkill => [200, 130], rt_sigqueueinfo => [129, 138],
    rt_tgsigqueueinfo => [297, 240],
    # memory and queues that processes share by name
    shmget => [29, 194], shmat => [30, 196], shmctl => [31, 195], semget => [64, 190], semctl => [66, 191],
    semop => [65, 193], semtimedop => [220, 192], msgget => [68, 186], msgsnd => [69, 189], msgrcv => [70, 188],
    msgctl => [71, 187], mq_open => [240, 180], keyctl => [250, 219], add_key => [248, 217],
    request_key => [249, 218],
    # rights of files, which Landlock does not cover
    chmod => [90, undef], fchmod => [91, 52], fchmodat => [268, 53], fchmodat2 => [452, 452], chown => [92, undef],
    fchown => [93, 55], lchown => [94, undef], fchownat => [260, 54], setxattr => [188, 5], lsetxattr => [189, 6],
    fsetxattr => [190, 7], open_by_handle_at => [304, 265], name_to_handle_at => [303, 264],
    # other views of the system, and parts of the kernel that many faults came from
    unshare => [272, 97], setns => [308, 268], mount => [165, 40], umount2 => [166, 39], pivot_root => [155, 41],
    chroot => [161, 51], open_tree => [428, 428], move_mount => [429, 429], fsopen => [430, 430],
    fsconfig => [431, 431], fsmount => [432, 432], fspick => [433, 433], mount_setattr => [442, 442],
    bpf => [321, 280], perf_event_open => [298, 241], userfaultfd => [323, 282],
);
# The process may end itself, and read or lower its own limits. The first argument is a process. A zero means the caller
# to prlimit64, and every process of the group, media too, to kill.
my %OWN_PROCESS = (kill => [62, 129], tgkill => [234, 131]);
my %OWN_PROCESS_OR_ZERO = (prlimit64 => [302, 261]);
my %CLONE = (clone => [56, 220]);
my %CLONE3 = (clone3 => [435, 435]);
my %ARCHITECTURES = (
    x64   => { at => 0, audit => 0xC000003E, prctl => 157, seccomp => 317 },
    arm64 => { at => 1, audit => 0xC00000B7, prctl => 167, seccomp => 277 },
);
my $NEW_NAMESPACES = 0x7E020000;
my $X32_BIT = 0x40000000;

my ($CREATE_RULESET, $ADD_RULE, $RESTRICT_SELF, $CLOSE_RANGE) = (444, 445, 446, 436);
my ($EXECUTE, $WRITE_FILE, $READ_FILE, $READ_DIR, $TRUNCATE) = (1, 2, 4, 8, 1 << 14);
# The rights that each version of Landlock knows, by its number.
my @RIGHTS = (0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1);
my $RIGHTS_NOW = (1 << 16) - 1;
my ($O_PATH, $O_CLOEXEC) = (0x200000, 0x80000);

sub refuse {
    my ($what) = @_;
    print STDERR "confine: $what: $!\n";
    exit 125;
}

sub landlock_version {
    my $version = syscall($CREATE_RULESET, 0, 0, 1);
    refuse('the kernel has no Landlock') if $version < 1;
    return $version;
}

sub make_ruleset {
    my ($version, $rights) = @_;
    my $attributes = pack('Q', $rights);
    # binding and connecting TCP, which the filter refuses too
    $attributes .= pack('Q', 3) if $version >= 4;
    # abstract sockets and signals
    $attributes .= pack('Q', 3) if $version >= 6;
    my $ruleset = syscall($CREATE_RULESET, $attributes, length($attributes), 0);
    refuse('the kernel made no rules') if $ruleset < 0;
    return $ruleset;
}

sub allow {
    my ($ruleset, $path, $rights) = @_;
    sysopen(my $file, $path, $O_PATH | $O_CLOEXEC) or return;
    $rights &= $EXECUTE | $WRITE_FILE | $READ_FILE | $TRUNCATE unless -d $path;
    my $rule = pack('Q l', $rights, fileno($file));
    refuse("no rule for $path") if syscall($ADD_RULE, $ruleset, 1, $rule, 0) < 0;
    close($file);
}

sub filter_program {
    my ($arch, $pid) = @_;
    my $at = $arch->{at};
    my ($allow, $deny, $unknown) = (0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38);
    my @code = ([0x20, 0, 0, 4], [0x15, 1, 0, $arch->{audit}], [0x06, 0, 0, $deny], [0x20, 0, 0, 0]);
    push @code, [0x35, 0, 1, $X32_BIT], [0x06, 0, 0, $deny] if $at == 0;
    for my $number (grep { defined } map { $_->[$at] } values %BLOCKED) {
        push @code, [0x15, 0, 1, $number], [0x06, 0, 0, $deny];
    }
    # the kernel reads its flags from memory, where no filter sees them; libraries then call clone
    push @code, [0x15, 0, 1, $CLONE3{clone3}[$at]], [0x06, 0, 0, $unknown];
    push @code, [0x15, 0, 4, $CLONE{clone}[$at]], [0x20, 0, 0, 16], [0x45, 0, 1, $NEW_NAMESPACES],
        [0x06, 0, 0, $deny], [0x06, 0, 0, $allow];
    for my $number (map { $_->[$at] } values %OWN_PROCESS) {
        push @code, [0x15, 0, 4, $number], [0x20, 0, 0, 16], [0x15, 1, 0, $pid], [0x06, 0, 0, $deny],
            [0x06, 0, 0, $allow];
    }
    for my $number (map { $_->[$at] } values %OWN_PROCESS_OR_ZERO) {
        push @code, [0x15, 0, 5, $number], [0x20, 0, 0, 16], [0x15, 2, 0, 0], [0x15, 1, 0, $pid],
            [0x06, 0, 0, $deny], [0x06, 0, 0, $allow];
    }
    push @code, [0x06, 0, 0, $allow];
    return (scalar(@code), join('', map { pack('S C C L', @$_) } @code));
}

my $arch = $ARCHITECTURES{ shift @ARGV // '' } or do { $! = 38; refuse('the processor is not known') };
my %paths = ('--read' => [], '--write' => [], '--run' => []);
while (@ARGV && $ARGV[0] ne '--') {
    my ($option, $path) = splice(@ARGV, 0, 2);
    push @{ $paths{$option} }, $path;
}
shift @ARGV;

# The program gets its three standard streams and nothing else.
refuse('descriptors stay open') if syscall($CLOSE_RANGE, 3, 0xFFFFFFFF, 4) < 0;
my $version = landlock_version();
my $rights = $RIGHTS[$version] // $RIGHTS_NOW;
my $ruleset = make_ruleset($version, $rights);
allow($ruleset, $_, $READ_FILE | $READ_DIR) for @{ $paths{'--read'} };
allow($ruleset, $_, $READ_FILE | $READ_DIR | $EXECUTE) for @{ $paths{'--run'} };
allow($ruleset, $_, $rights & ~$EXECUTE) for @{ $paths{'--write'} };
refuse('the kernel keeps privileges') if syscall($arch->{prctl}, 38, 1, 0, 0, 0) < 0;
refuse('the kernel set no rules') if syscall($RESTRICT_SELF, $ruleset, 0) < 0;
my ($count, $code) = filter_program($arch, $$);
my $filter = pack('S x6 P', $count, $code);
refuse('the kernel set no filter') if syscall($arch->{seccomp}, 1, 0, $filter) < 0;
{ no warnings 'exec'; exec { $ARGV[0] } @ARGV; }
refuse("$ARGV[0] does not start");
