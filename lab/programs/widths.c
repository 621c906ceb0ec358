/*
 * widths PATH BYTES: maps a file of device memory (/sys/bus/pci/devices/X/resourceN) and reads so many bytes of it once by each
 * of the widths 1, 2, 4 and 8, a hundred times in turn. What is printed is the shortest time of each, which other programs on the
 * host lengthen least, and that of 1 over it:
 *
 *     width 4: 1024 accesses, 1152000 ns, byte over this 3.98
 *
 * `widths PATH BYTES WIDTH` reads once by that width, for whoever counts the accesses.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define WIDTHS 4
#define ROUNDS 101

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define READ(name, type) \
    static void name(const volatile void *from, size_t bytes) \
    { \
        const volatile type *at = from; \
        for (size_t i = 0; i < bytes / sizeof(type); i++) { \
            (void)at[i]; \
        } \
    }

READ(read_1, uint8_t)
READ(read_2, uint16_t)
READ(read_4, uint32_t)
READ(read_8, uint64_t)

int main(int count, char **arguments)
{
    void (*const reads[WIDTHS])(const volatile void *, size_t) = {read_1, read_2, read_4, read_8};
    uint64_t least[WIDTHS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const volatile void *memory;
    size_t bytes;
    int file;

    if (count < 3 || (bytes = strtoull(arguments[2], NULL, 0)) == 0) {
        fprintf(stderr, "widths PATH BYTES [WIDTH]\n");
        return 2;
    }
    file = open(arguments[1], O_RDONLY | O_SYNC);
    if (file < 0) {
        perror(arguments[1]);
        return 1;
    }
    memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        perror(arguments[1]);
        return 1;
    }
    if (count > 3) {
        for (int i = 0; i < WIDTHS; i++) {
            if (atoi(arguments[3]) == 1 << i) {
                reads[i](memory, bytes);
                return 0;
            }
        }
        fprintf(stderr, "%s is no width: 1, 2, 4 or 8\n", arguments[3]);
        return 2;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WIDTHS; i++) {
            uint64_t begun = now_ns(), took;

            reads[i](memory, bytes);
            took = now_ns() - begun;
            least[i] = took < least[i] ? took : least[i];
        }
    }
    for (int i = 0; i < WIDTHS; i++) {
        printf("width %d: %zu accesses, %llu ns, byte over this %.2f\n", 1 << i, bytes >> i,
               (unsigned long long)least[i], (double)least[0] / (double)least[i]);
    }
    return 0;
}
