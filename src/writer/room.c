/*
 * room.c: the budget of a writer, and blocks that are taken again.
 */
#include "writer/writer.h"

/* Smaller ones go back to the allocator. */
enum { KEPT_BYTES = 64 * 1024 };

/* What stands in a block that is kept. */
typedef struct kept {
    struct kept *next;
    size_t n_bytes;
} kept;

bool zlgi_room_has(const zlg_writer *writer, uint64_t n_bytes)
{
    const zlgi_room *room = &writer->room;
    uint64_t used = room->live + room->aside;
    return used <= room->budget && n_bytes <= room->budget - used;
}

uint64_t zlgi_room_used(const zlg_writer *writer)
{
    const zlgi_room *room = &writer->room;
    return room->live - room->base + room->working;
}

static void note_peak(zlg_writer *writer)
{
    writer->room.peak = ZLGI_MAX(writer->room.peak, zlgi_room_used(writer));
}

void zlgi_room_charge(zlg_writer *writer, uint64_t n_bytes)
{
    writer->room.live += n_bytes;
    note_peak(writer);
}

void zlgi_room_use(zlg_writer *writer, uint64_t *aside, uint64_t n_bytes)
{
    n_bytes = ZLGI_MIN(n_bytes, *aside);
    *aside -= n_bytes;
    writer->room.aside -= n_bytes;
}

void zlgi_room_release(zlg_writer *writer, uint64_t n_bytes)
{
    writer->room.live -= n_bytes;
    writer->room.is_stuck = false;
    if (n_bytes > 0 && writer->room.n_waiting > 0)
        zlgi_writer_changed(writer);
}

/* Gives back blocks until what is live and what is kept fit the budget. */
static void trim(zlg_writer *writer)
{
    zlgi_room *room = &writer->room;
    while (room->blocks && room->live + room->kept > room->budget) {
        kept *block = room->blocks;
        room->blocks = block->next;
        room->kept -= block->n_bytes;
        zlgi_free(&writer->ctx->alloc, block, block->n_bytes);
    }
}

static void *take_kept(zlgi_room *room, size_t n_bytes)
{
    for (kept **link = (kept **)(void *)&room->blocks; *link; link = &(*link)->next) {
        kept *block = *link;
        if (block->n_bytes != n_bytes)
            continue;
        *link = block->next;
        room->kept -= n_bytes;
        return block;
    }
    return NULL;
}

void *zlgi_room_block(zlg_writer *writer, size_t n_bytes)
{
    void *block = n_bytes >= KEPT_BYTES ? take_kept(&writer->room, n_bytes) : NULL;
    trim(writer);
    return block ? block : zlgi_resize(&writer->ctx->alloc, NULL, 0, n_bytes);
}

void zlgi_room_unblock(zlg_writer *writer, void *data, size_t n_bytes)
{
    zlgi_room *room = &writer->room;
    if (n_bytes < KEPT_BYTES) {
        zlgi_free(&writer->ctx->alloc, data, n_bytes);
        return;
    }
    kept *block = data;
    *block = (kept){.next = room->blocks, .n_bytes = n_bytes};
    room->blocks = block;
    room->kept += n_bytes;
    trim(writer);
}

void *zlgi_room_take(zlg_writer *writer, size_t n_bytes)
{
    zlgi_room_charge(writer, n_bytes);
    void *block = zlgi_room_block(writer, n_bytes);
    if (!block)
        zlgi_room_release(writer, n_bytes);
    return block;
}

void zlgi_room_give(zlg_writer *writer, void *block, size_t n_bytes)
{
    zlgi_room_release(writer, n_bytes);
    zlgi_room_unblock(writer, block, n_bytes);
}

void *zlgi_room_work(zlg_writer *writer, size_t n_bytes)
{
    void *block = zlgi_room_block(writer, n_bytes);
    writer->room.working += block ? n_bytes : 0;
    note_peak(writer);
    return block;
}

void zlgi_room_work_kept(zlg_writer *writer, size_t n_bytes)
{
    writer->room.working -= n_bytes;
    zlgi_room_charge(writer, n_bytes);
}

void zlgi_room_work_done(zlg_writer *writer, void *block, size_t n_bytes)
{
    writer->room.working -= n_bytes;
    zlgi_room_unblock(writer, block, n_bytes);
}

void zlgi_room_reset(zlg_writer *writer)
{
    writer->room.budget = 0;
    trim(writer);
}
