/*
 * Counts the loads and stores of a guest by their width, in a range of its physical addresses; on request each of them takes
 * a given time, as a transaction of a bus does; one that is wider than the bus is several. A plugin for QEMU's TCG, version 1 of
 * the interface.
 *
 * accesses.so,log=FILE,from=ADDRESS,size=BYTES[,ram=OFFSET][,wait=NANOSECONDS][,bus=BYTES]
 *
 * A guest marks where something begins and ends by a program with the instructions in MARK (accesses.rs writes it). Before
 * the first mark no access is looked at, so that a boot is as fast as ever; from then on all are. At each mark but the first
 * a line is appended to FILE, and counting begins anew:
 *
 *     mark 1 loads 1:0 2:0 4:262144 8:0 16:0 stores 1:0 2:0 4:0 8:0 16:0
 */
#include "qemu_plugin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

LAB_EXPORT int qemu_plugin_version = LAB_QEMU_PLUGIN_VERSION;

/* Widths are powers of two from 1 to 16 bytes. */
#define WIDTHS 5

static uint64_t from, size, wait_ns, bus;
/*
 * Memory that the emulator keeps in a block of its own, as flash in its reading mode, is reported at its physical address
 * plus the block's offset among all of them (qemu_plugin_hwaddr_phys_addr of QEMU 7.2), so that either address counts.
 */
static uint64_t ram_offset;
static const char *log_path;
static atomic_ullong counted[2][WIDTHS];
static atomic_uint marks;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void access_made(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, vaddr);
    unsigned int width = qemu_plugin_mem_size_shift(info);
    uint64_t address;

    (void)vcpu, (void)data;
    if (!where || width >= WIDTHS) {
        return;
    }
    address = qemu_plugin_hwaddr_phys_addr(where);
    if (address - from >= size && (qemu_plugin_hwaddr_is_io(where) || address - ram_offset - from >= size)) {
        return;
    }
    atomic_fetch_add_explicit(&counted[qemu_plugin_mem_is_store(info)][width], 1, memory_order_relaxed);
    if (wait_ns) {
        uint64_t bytes = 1u << width, transactions = bus && bytes > bus ? bytes / bus : 1;
        uint64_t until = now_ns() + wait_ns * transactions;

        while (now_ns() < until) {
        }
    }
}

static void print_counts(FILE *file, const char *what, atomic_ullong *counts)
{
    fprintf(file, " %s", what);
    for (unsigned int i = 0; i < WIDTHS; i++) {
        fprintf(file, " %u:%llu", 1u << i, atomic_exchange(&counts[i], 0));
    }
}

static void translate_counting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void begin(qemu_plugin_id_t id)
{
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate_counting);
}

static void marked(unsigned int vcpu, void *data)
{
    unsigned int mark = atomic_fetch_add(&marks, 1);
    FILE *file;

    (void)vcpu;
    if (mark == 0) {
        /* All code is translated anew, now with its accesses counted. */
        qemu_plugin_reset((qemu_plugin_id_t)(uintptr_t)data, begin);
        return;
    }
    file = fopen(log_path, "a");
    if (!file) {
        perror(log_path);
        abort();
    }
    fprintf(file, "mark %u", mark);
    print_counts(file, "loads", counted[0]);
    print_counts(file, "stores", counted[1]);
    fputc('\n', file);
    fclose(file);
}

/* What no compiler makes: of x86 a no-operation with a number in it; of ARM such a number put into the register r12. */
static bool is_mark(const struct qemu_plugin_insn *insn)
{
    static const unsigned char x86[] = {0x0f, 0x1f, 0x80, 'L', 'A', 'B', '!'};
    static const unsigned char arm[] = {0x21, 0xc2, 0x44, 0xe3};
    static const unsigned char arm64[] = {0x2c, 0x44, 0x88, 0xf2};
    size_t length = qemu_plugin_insn_size(insn);
    const void *bytes = qemu_plugin_insn_data(insn);

    if (length == sizeof(x86)) {
        return !memcmp(bytes, x86, length);
    }
    return length == sizeof(arm) && (!memcmp(bytes, arm, length) || !memcmp(bytes, arm64, length));
}

static void find_marks(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);

    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        if (is_mark(insn)) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)id);
        }
    }
}

static void translate_counting(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);

    find_marks(id, tb);
    for (size_t i = 0; i < count; i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), access_made, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
    }
}

/* The number behind `key=`; whether the argument is that. */
static bool number(const char *argument, const char *key, uint64_t *value)
{
    size_t length = strlen(key);
    char *end;

    if (strncmp(argument, key, length) || argument[length] != '=') {
        return false;
    }
    *value = strtoull(argument + length + 1, &end, 0);
    return *end == '\0' && end != argument + length + 1;
}

LAB_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count, char **arguments)
{
    (void)info;
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];

        if (!strncmp(argument, "log=", 4)) {
            log_path = strdup(argument + 4);
        } else if (!number(argument, "from", &from) && !number(argument, "size", &size) &&
                   !number(argument, "ram", &ram_offset) && !number(argument, "wait", &wait_ns) &&
                   !number(argument, "bus", &bus)) {
            fprintf(stderr, "accesses: '%s' is no option\n", argument);
            return -1;
        }
    }
    if (!log_path || !size) {
        fprintf(stderr, "accesses: log=FILE and size=BYTES must be there\n");
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, find_marks);
    return 0;
}
